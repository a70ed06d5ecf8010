#include "profile/columns.hpp"

#include <algorithm>

#include "base/dtype.hpp"
#include "base/suggest.hpp"
#include "profile/cells.hpp"

namespace sluice {
namespace {

using Kind = ProfileColumn::Kind;

const std::vector<std::string> passes = {"forward", "backward", "backward_input", "backward_weight",
                                         "update"};
const std::vector<std::string> caches = {"hot", "cold", "chained"};
const std::vector<std::string> levels = {"leaf", "inner", "whole"};
const std::vector<std::string> marks = {"no", "yes", "failed"};

std::string said(const std::optional<double>& number) {
  return number ? exact(*number) : "";
}
std::string said(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "";
}

template <std::string ProfileRow::*member>
ProfileColumn text(std::string name, std::string summary) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .key = true,
          .get = [](const ProfileRow& row) { return row.*member; },
          .set = [](ProfileRow& row, const std::string& cell) { row.*member = cell; }};
}

template <std::vector<std::string> ProfileRow::*member>
ProfileColumn words(std::string name, std::string summary) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .key = true,
          .get = [](const ProfileRow& row) { return cell::text_of(row.*member); },
          .set = [](ProfileRow& row, const std::string& c) { row.*member = cell::parts_of(c); }};
}

template <std::vector<std::vector<std::int64_t>> ProfileRow::*member>
ProfileColumn shapes(std::string name, std::string summary) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .key = true,
          .get = [](const ProfileRow& row) { return cell::text_of(row.*member); },
          .set = [](ProfileRow& row, const std::string& c) { row.*member = cell::shapes(c); }};
}

template <std::optional<double> ProfileRow::*member>
ProfileColumn number(std::string name, std::string summary, Dimension dimension) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .kind = Kind::number,
          .dimension = dimension,
          .get = [](const ProfileRow& row) { return said(row.*member); },
          .set = [](ProfileRow& row, const std::string& c) { row.*member = cell::number(c); }};
}

template <Statistics ProfileRow::*of, std::optional<double> Statistics::*member>
ProfileColumn statistic(std::string name, std::string summary, Dimension dimension) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .kind = Kind::number,
          .dimension = dimension,
          .get = [](const ProfileRow& row) { return said(row.*of.*member); },
          .set = [](ProfileRow& row, const std::string& c) { row.*of.*member = cell::number(c); }};
}

template <Statistics ProfileRow::*of>
std::vector<ProfileColumn> statistics(const std::string& unit, const std::string& what,
                                      Dimension dimension) {
  return {
      {.name = unit + "_samples",
       .summary = "the samples, each in " + what + " per call",
       .kind = Kind::samples,
       .dimension = dimension,
       .get = [](const ProfileRow& row) { return cell::text_of((row.*of).samples); },
       .set = [](ProfileRow& row, const std::string& c) { (row.*of).samples = cell::numbers(c); }},
      {.name = unit + "_n",
       .summary = "the number of samples",
       .kind = Kind::number,
       .get = [](const ProfileRow& row) { return said((row.*of).n); },
       .set =
           [](ProfileRow& row, const std::string& c) {
             (row.*of).n = cell::number(c);
             if (*(row.*of).n < 1) throw InputError("'" + c + "': expected at least 1 sample");
           }},
      statistic<of, &Statistics::mean>(unit + "_mean", "the mean of the samples, in " + what,
                                       dimension),
      statistic<of, &Statistics::median>(unit + "_median", "the median of the samples, in " + what,
                                         dimension),
      statistic<of, &Statistics::std>(
          unit + "_std", "the standard deviation of the samples (divisor n - 1), in " + what,
          dimension),
  };
}

/// The columns that say which operator was measured, and with which shapes.
std::vector<ProfileColumn> identity() {
  return {
      text<&ProfileRow::operator_class>("operator",
                                        "the class of operator: a layer type, or any word"),
      text<&ProfileRow::config>("config", "the configuration of the operator as text"),
      text<&ProfileRow::node>("node", "the name of one instance of the operator in a graph"),
      {.name = "sizes",
       .summary = "named whole numbers: m=8192;n=4096",
       .key = true,
       .get = [](const ProfileRow& row) { return cell::text_of(row.sizes); },
       .set = [](ProfileRow& row, const std::string& c) { row.sizes = cell::sizes(c); }},
      shapes<&ProfileRow::inputs>(
          "inputs",
          "shapes of the input tensors, with the batch first, such as "
          "8x64x56x56"),
      shapes<&ProfileRow::outputs>("outputs", "shapes of the tensors that are written"),
      {.name = "batch",
       .summary = "the number of samples that were measured together",
       .kind = Kind::number,
       .key = true,
       .get = [](const ProfileRow& row) { return said(row.batch); },
       .set = [](ProfileRow& row, const std::string& c) { row.batch = cell::whole(c, 1); }},
      {.name = "dtype",
       .summary = "element type",
       .key = true,
       .get = [](const ProfileRow& row) { return row.dtype; },
       .set = [](ProfileRow& row,
                 const std::string& c) { row.dtype = std::string(name_of(dtype_of(c))); }},
      {.name = "sparsity",
       .summary = "the share of zeros among the weights, if the operator skips zeros",
       .kind = Kind::number,
       .key = true,
       .get = [](const ProfileRow& row) { return row.sparsity == 0 ? "" : exact(row.sparsity); },
       .set =
           [](ProfileRow& row, const std::string& c) {
             row.sparsity = cell::number(c);
             if (row.sparsity >= 1) throw InputError("'" + c + "': expected a share below 1");
           }},
      {.name = "pass",
       .summary = join(passes),
       .key = true,
       .get = [](const ProfileRow& row) { return row.pass; },
       .set = [](ProfileRow& row,
                 const std::string& c) { row.pass = passes[cell::word(c, passes)]; }},
  };
}

/// The columns about the circumstances of the measurement: the memories of the tensors, the device, the method, and the
/// model.
std::vector<ProfileColumn> circumstances() {
  return {
      words<&ProfileRow::input_pools>("input_pools", "memory of each input: DRAM;PMEM"),
      words<&ProfileRow::output_pools>("output_pools", "memory of each output"),
      {.name = "cache",
       .summary = join(caches),
       .key = true,
       .get = [](const ProfileRow& row) { return row.cache; },
       .set = [](ProfileRow& row,
                 const std::string& c) { row.cache = caches[cell::word(c, caches)]; }},
      text<&ProfileRow::method>("method",
                                "how the row was measured, such as single, simultaneous, loop"),
      text<&ProfileRow::device>("device", "the device on which the row was measured"),
      {.name = "level",
       .summary =
           "what the row is about: leaf (an operator), inner (a module with children), whole (a model)",
       .key = true,
       .get =
           [](const ProfileRow& row) {
             return row.level == Level::leaf ? "" : levels[static_cast<std::size_t>(row.level)];
           },
       .set = [](ProfileRow& row,
                 const std::string& c) { row.level = static_cast<Level>(cell::word(c, levels)); }},
      text<&ProfileRow::model>("model", "the model that contains the operator"),
  };
}

/// The columns that say how often the operator runs, and how much work one call does.
std::vector<ProfileColumn> amounts() {
  return {
      {.name = "occurrences",
       .summary = "how often the operator occurs in the model",
       .kind = Kind::number,
       .get =
           [](const ProfileRow& row) {
             return row.occurrences == 1 ? "" : std::to_string(row.occurrences);
           },
       .set = [](ProfileRow& row, const std::string& c) { row.occurrences = cell::whole(c, 0); }},
      number<&ProfileRow::flop>("flop", "FLOP of one call", Dimension::flop),
      number<&ProfileRow::bytes>("bytes", "the bytes that one call reads and writes",
                                 Dimension::bytes),
      {.name = "calls",
       .summary = "the number of calls in each sample of the measurement",
       .kind = Kind::number,
       .get = [](const ProfileRow& row) { return row.calls == 1 ? "" : exact(row.calls); },
       .set =
           [](ProfileRow& row, const std::string& c) {
             row.calls = cell::number(c);
             if (row.calls == 0) throw InputError("'" + c + "': expected more than 0 calls");
           }},
  };
}

std::vector<ProfileColumn> marks_of_measuring() {
  return {
      number<&ProfileRow::joules_error>(
          "joules_error", "the largest error that the meter's resolution causes, in J",
          Dimension::joules),
      {.name = "processed",
       .summary = "whether the row was measured: no (planned), yes (measured), failed",
       .get = [](const ProfileRow& row) { return marks[static_cast<std::size_t>(row.processed)]; },
       .set =
           [](ProfileRow& row, const std::string& c) {
             row.processed = static_cast<Processed>(cell::word(c, marks));
           }},
      {.name = "run",
       .summary =
           "the number of the run that measures the row; rows with the same number are measured together",
       .kind = Kind::number,
       .get = [](const ProfileRow& row) { return said(row.run); },
       .set = [](ProfileRow& row, const std::string& c) { row.run = cell::whole(c, 1); }},
      {.name = "note",
       .summary = "text",
       .get = [](const ProfileRow& row) { return row.note; },
       .set = [](ProfileRow& row, const std::string& c) { row.note = c; }},
  };
}

void require_order(const std::string& unit, const Statistics& statistics) {
  if (!statistics.samples.empty() && !statistics.known())
    throw InternalError("samples without statistics");
  if (statistics.std && !statistics.known())
    throw InputError(unit + "_std needs " + unit + "_mean or " + unit + "_median, too");
}

}  // namespace

const std::vector<ProfileColumn>& profile_columns() {
  static const std::vector<ProfileColumn> all = [] {
    std::vector<ProfileColumn> list = identity();
    for (auto&& part :
         {circumstances(), amounts(),
          statistics<&ProfileRow::seconds>("seconds", "s", Dimension::seconds),
          statistics<&ProfileRow::joules>("joules", "J", Dimension::joules), marks_of_measuring()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

std::vector<std::string> profile_column_names() {
  std::vector<std::string> names;
  for (const ProfileColumn& column : profile_columns()) names.push_back(column.name);
  return names;
}

const ProfileColumn* find_profile_column(std::string_view name) {
  for (const ProfileColumn& column : profile_columns())
    if (column.name == name) return &column;
  return nullptr;
}

const ProfileColumn& profile_column(std::string_view name) {
  if (const ProfileColumn* column = find_profile_column(name)) return *column;
  const std::vector<std::string> known = profile_column_names();
  throw InputError("unknown column '" + std::string(name) + "'" + did_you_mean(name, known) +
                   "; known: " + join(known));
}

std::string key_of(const ProfileRow& row, const std::vector<std::string>& but) {
  std::string key;
  for (const ProfileColumn& column : profile_columns())
    if (column.key && std::find(but.begin(), but.end(), column.name) == but.end())
      key += column.get(row) + '\x1f';
  return key;
}

void settle_row(ProfileRow& row) {
  row.seconds.derive();
  row.joules.derive();
  require_order("seconds", row.seconds);
  require_order("joules", row.joules);
  if (row.processed == Processed::yes && !row.seconds.known())
    throw InputError(
        "'processed' is yes, but there is no time: expected seconds_median, seconds_mean, seconds_samples or "
        "processed=no");
  if (row.processed == Processed::no && row.seconds.known())
    throw InputError("'processed' is no, but there is a time; expected processed=yes");
}

std::optional<std::int64_t> ProfileRow::size(std::string_view name) const {
  for (const auto& [known, number] : sizes)
    if (known == name) return number;
  return std::nullopt;
}

std::string words_of(const ProfileRow& row) {
  // torch prints configurations that begin with the class: "Conv2d(3, 64, ...)". Then the class is not added again.
  const bool whole = row.config.rfind(row.operator_class, 0) == 0;
  std::string text = row.node.empty() ? (whole ? "" : row.operator_class) : row.node;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : " ") + more;
  };
  if (row.node.empty()) add(row.config.substr(0, 80));
  add(cell::text_of(row.sizes));
  if (row.sizes.empty() && row.node.empty()) add(cell::text_of(row.inputs));
  if (!row.input_pools.empty() || !row.output_pools.empty())
    add("(" + join(row.input_pools) + ") -- (" + join(row.output_pools) + ")");
  if (row.pass != "forward") add(row.pass);
  return text;
}

}  // namespace sluice
