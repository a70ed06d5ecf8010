// The command `sluice profile compare` says whether two sets of measurements agree.
#include <algorithm>
#include <cmath>

#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "command/profile/subcommands.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "profile/cells.hpp"
#include "profile/columns.hpp"
#include "profile/compare.hpp"

namespace sluice {
namespace {

struct CompareRequest {
  std::string a, b;  ///< names of the two sides of the comparison
  Profile rows_a, rows_b;
  CompareOptions options;
  std::optional<double> median_within, agreeing_at_least;

  bool has_verdict() const { return median_within || agreeing_at_least; }
};

/// Reads a choice such as "cache=hot,cold". With this choice, two kinds of rows of one profile are compared: those with
/// cache=hot and those with cache=cold.
void choose_between(CompareRequest& asked, const Arguments& arguments) {
  const std::string between = arguments.text("between");
  const std::size_t equals = between.find('=');
  const auto values = equals == std::string::npos ? std::vector<std::string>()
                                                  : cell::parts_of(between.substr(equals + 1), ',');
  if (values.size() != 2)
    throw UsageError("'" + between +
                     "' for '--between': expected COLUMN=A,B, such as cache=hot,cold");
  const Profile profile = read_profile(arguments, arguments.positionals.front());
  const std::string column = between.substr(0, equals);
  asked.rows_a = rows_where(profile, column, values[0]);
  asked.rows_b = rows_where(profile, column, values[1]);
  asked.a = column + " " + values[0];
  asked.b = column + " " + values[1];
  asked.options.but.push_back(column);
}

CompareRequest asked_of(const Arguments& arguments) {
  CompareRequest asked;
  const auto& files = arguments.positionals;
  if (arguments.has("but")) asked.options.but = cell::parts_of(arguments.text("but"), ',');
  for (const std::string& column : asked.options.but) profile_column(column);
  if (arguments.has("between")) {
    if (files.size() != 1)
      throw UsageError("'--between' compares rows of one PROFILE; give a single PROFILE");
    choose_between(asked, arguments);
  } else {
    if (files.size() != 2)
      throw UsageError(
          "give two profiles, or one profile and two kinds of its rows with --between COLUMN=A,B");
    asked.a = files[0];
    asked.b = files[1];
    asked.rows_a = read_profile(arguments, files[0]);
    asked.rows_b = read_profile(arguments, files[1]);
  }
  asked.options.energy = arguments.text("what", "time") == "energy";
  asked.options.tolerance = share_option(arguments, "tolerance", 0.05);
  if (arguments.has("least"))
    asked.options.least =
        parse_quantity(arguments.text("least"),
                       asked.options.energy ? Dimension::joules : Dimension::seconds, "--least");
  if (arguments.has("median-within"))
    asked.median_within = share_option(arguments, "median-within", 0);
  if (arguments.has("agree")) asked.agreeing_at_least = share_option(arguments, "agree", 0);
  return asked;
}

/// Returns the reasons why the two sides do not agree, each as a part of a sentence. Returns an empty list if the sides
/// agree.
std::vector<std::string> objections(const CompareRequest& asked, const Comparison& comparison) {
  std::vector<std::string> found;
  if (!asked.has_verdict()) return found;
  if (comparison.rows.empty()) return {"nothing could be compared"};
  if (asked.median_within && std::abs(comparison.median - 1) > *asked.median_within)
    found.push_back("the median ratio " + ratio(comparison.median) + " is farther from 1 than " +
                    percent(*asked.median_within));
  if (asked.agreeing_at_least && comparison.agreeing_share() < *asked.agreeing_at_least)
    found.push_back("only " + percent(comparison.agreeing_share()) + " of the rows agree, not " +
                    percent(*asked.agreeing_at_least));
  return found;
}

std::string verdict_text(const CompareRequest& asked, const std::vector<std::string>& objections) {
  if (!asked.has_verdict()) return "";
  if (objections.empty()) return "\nverdict: A and B agree\n";
  return "\nverdict: A and B do not agree: " + join(objections, "; ") + "\n";
}

std::string figure_of(const CompareRequest& asked, double number) {
  return format_quantity(number, asked.options.energy ? Dimension::joules : Dimension::seconds);
}

std::string counts_text(const CompareRequest& asked, const Comparison& c) {
  std::string text = std::to_string(c.pairs) + " rows in both";
  if (c.with_zero > 0)
    text += ", " + std::to_string(c.with_zero) + " left out because a number is 0";
  if (c.below_least > 0)
    text += ", " + std::to_string(c.below_least) + " left out because a number is at most " +
            figure_of(asked, asked.options.least);
  if (c.unmeasured > 0) text += "; " + std::to_string(c.unmeasured) + " not measured in A or in B";
  if (c.only_a > 0) text += "; " + std::to_string(c.only_a) + " only in A";
  if (c.only_b > 0) text += "; " + std::to_string(c.only_b) + " only in B";
  return text + "\n";
}

std::string rows_table(const CompareRequest& asked, std::vector<ComparedRow> rows,
                       std::size_t most) {
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedRow& x, const ComparedRow& y) {
    return x.factor() > y.factor();
  });
  TextTable table{.columns = {left("rows that disagree, with the worst row first"), right("A"),
                              right("B"), right("A / B")},
                  .rows = {}};
  for (const ComparedRow& row : rows) {
    if (table.rows.size() == most || std::abs(row.ratio() - 1) <= asked.options.tolerance) break;
    table.rows.push_back({printable(words_of(*row.a)), figure_of(asked, row.of_a),
                          figure_of(asked, row.of_b), ratio(row.ratio())});
  }
  return table.rows.empty() ? "" : "\n" + table.aligned();
}

std::string text_of(const CompareRequest& asked, const Comparison& c, std::size_t most) {
  std::string text =
      "A: " + printable(asked.a) + "\nB: " + printable(asked.b) + "\n\n" + counts_text(asked, c);
  if (c.rows.empty()) return text;
  text += std::to_string(c.rows.size()) + " rows compared: the median of A / B is " +
          ratio(c.median) + ", and the middle 80 % are from " + ratio(c.tenth) + " to " +
          ratio(c.ninetieth) + "; " + std::to_string(c.agreeing) + " rows (" +
          percent(c.agreeing_share()) + ") agree within " + percent(asked.options.tolerance) +
          "\nsum of A: " + figure_of(asked, c.sum_a) + ", sum of B: " + figure_of(asked, c.sum_b) +
          ", A / B: " + ratio(c.sum_a / c.sum_b) + "\nworst: " + printable(words_of(*c.worst()->a)) +
          ", " + ratio(c.worst()->ratio()) + "\n";
  return text + rows_table(asked, c.rows, most);
}

Value row_json(const ComparedRow& row) {
  return object({{"row", words_of(*row.a)},
                 {"line_a", row.a->line},
                 {"line_b", row.b->line},
                 {"a", row.of_a},
                 {"b", row.of_b},
                 {"ratio", row.ratio()}});
}

std::string json_of(const CompareRequest& asked, const Comparison& c,
                    const std::vector<std::string>& wrong) {
  const bool some = !c.rows.empty();
  const auto known = [&](double number) { return some ? Item(number) : Item(nullptr); };
  return to_json(
      object({{"format", "sluice-profile-comparison/1"},
              {"a", asked.a},
              {"b", asked.b},
              {"what", asked.options.energy ? "energy" : "time"},
              {"pairs", c.pairs},
              {"with_zero", c.with_zero},
              {"below_least", c.below_least},
              {"unmeasured", c.unmeasured},
              {"only_a", c.only_a},
              {"only_b", c.only_b},
              {"compared", c.rows.size()},
              {"median_ratio", known(c.median)},
              {"tenth", known(c.tenth)},
              {"ninetieth", known(c.ninetieth)},
              {"tolerance", asked.options.tolerance},
              {"agreeing", c.agreeing},
              {"sum_a", c.sum_a},
              {"sum_b", c.sum_b},
              {"worst", some ? Item(row_json(*c.worst())) : Item(nullptr)},
              {"agree", asked.has_verdict() ? Item(wrong.empty()) : Item(nullptr)},
              {"objections", list_of(wrong, [](const auto& text) { return Item(text); })},
              {"rows", list_of(c.rows, row_json)}}));
}

int run_compare(const Arguments& arguments) {
  const CompareRequest asked = asked_of(arguments);
  const Comparison comparison = compare(asked.rows_a, asked.rows_b, asked.options);
  const std::vector<std::string> wrong = objections(asked, comparison);
  const auto most = static_cast<std::size_t>(arguments.integer("rows", 10, 0, 1'000'000));
  print(arguments.has("json") ? json_of(asked, comparison, wrong)
                              : text_of(asked, comparison, most) + verdict_text(asked, wrong));
  return wrong.empty() ? 0 : 1;
}

std::vector<Option> options() {
  std::vector<Option> all = reading_options();
  const std::vector<Option> own = {
      {.name = "between",
       .value = "COLUMN=A,B",
       .summary = "two kinds of rows of one profile, such as cache=hot,cold"},
      {.name = "but",
       .value = "COLUMNS",
       .summary = "the columns in which two compared rows may differ, such as device, or cache,method"},
      {.name = "what",
       .value = "W",
       .summary = "whether time or energy is compared",
       .absent = "time",
       .choices = {"time", "energy"}},
      {.name = "least",
       .value = "T",
       .summary = "leave out rows with at most this value in A or in B, such as 1us",
       .absent = "0"},
      {.name = "tolerance",
       .value = "S",
       .summary = "two rows agree if the ratio of their values differs from 1 by at most this share",
       .absent = "5%"},
      {.name = "median-within",
       .value = "S",
       .summary = "A and B agree only if the median of the ratios differs from 1 by at most this share"},
      {.name = "agree",
       .value = "S",
       .summary = "A and B agree only if at least this share of the rows agree"},
      {.name = "rows",
       .value = "N",
       .summary = "how many of the rows that disagree are printed",
       .absent = "10"},
      {.name = "json", .summary = "print the answer as JSON, with every row"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

extern const Command profile_compare_command = {
    .name = "profile compare",
    .summary = "Compares the rows of two profiles, or two kinds of rows of one profile.",
    .usage = {"A B [--but COLUMNS] [--least T] [--tolerance S] [--median-within S] [--agree S]",
              "PROFILE --between COLUMN=A,B [...]"},
    .least = 1,
    .most = 2,
    .positionals = "A and B, or one PROFILE with --between",
    .options = options(),
    .details =
        "Some columns identify a row: operator, configuration, sizes, shapes, memories, pass, ... A row of A is compared "
        "with a row of B if these columns are equal. The two rows may differ in the columns of --but and --between. A "
        "ratio is the value of A divided by the value of B. If one of them is 0, there is no ratio. With "
        "--median-within or --agree, the answer has a verdict. If A and B do not agree, the exit code is 1.\n",
    .examples =
        {{"sluice profile compare table.csv --between method=simultaneous,single --least 1us",
          "whether the time of a configuration changes when it is measured together with others"},
         {"sluice profile compare before.csv after.csv --median-within 3%",
          "for continuous integration: exit code 1 if operators became slower or faster"}},
    .run = run_compare,
};

}  // namespace sluice
