// Tests the parts of the command line that need no separate process. The files tests/command/test_cli*.py test the
// other parts.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/figures.hpp"
#include "command/command.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/load.hpp"
#include "study/layer_table/stage_table.hpp"
#include "support/bad_input.hpp"
#include "trace/summary_json.hpp"

using namespace sluice;
using test::error_of;

namespace {

const Command& command(const char* name) {
  return command_catalog().find(name);
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (c != ' ')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, ""));
  }
  return words;
}

Arguments parsed(const char* name, const std::string& line) {
  return parse_arguments(command(name), words_of(line));
}

std::string refusal(const char* name, const std::string& line) {
  return error_of([&] { parsed(name, line); });
}

}  // namespace

TEST_CASE("A word with an equals sign is an override, unless there is a slash before the sign") {
  const Arguments arguments = parsed("run", "a.b=1 dir/s=1.yaml c=x/y");
  CHECK(arguments.positionals == std::vector<std::string>{"dir/s=1.yaml"});
  CHECK(arguments.overrides == std::vector<std::string>{"a.b=1", "c=x/y"});
}

TEST_CASE(
    "An option takes its value after an equals sign, after a blank, or directly after its letter") {
  for (const char* line :
       {"s -o t.h5", "s -ot.h5", "s --output t.h5", "s --output=t.h5", "--output=t.h5 s"})
    CHECK(parsed("run", line).text("output") == "t.h5");
  CHECK(parsed("run", "s").text("output", "none") == "none");
}

TEST_CASE("The command line is kept, with quotes where a shell needs quotes") {
  const Arguments arguments = parse_arguments(command("run"), {"s.yaml", "stages={cut: it's}"});
  CHECK(arguments.line == "sluice run s.yaml 'stages={cut: it'\\''s}'");
}

TEST_CASE("A word after two dashes is not an option") {
  CHECK(parsed("show", "-- --json").positionals == std::vector<std::string>{"--json"});
}

TEST_CASE("A command line that cannot be understood is refused with a list of the known words") {
  CHECK(refusal("run", "s --jsn").find("2 unknown option '--jsn' (did you mean '--json'?)") == 0);
  CHECK(refusal("run", "s --js").find("2 unknown option '--js'") == 0);
  CHECK(refusal("run", "s --json=yes").find("2 ") == 0);
  CHECK(refusal("run", "s --json --json").find("2 '--json' is given twice") == 0);
  CHECK(refusal("run", "s -o a --output b").find("2 '--output' is given twice") == 0);
  CHECK(refusal("run", "").find("2 missing SCENARIO or PLAN") == 0);
  CHECK(refusal("run", "s t").find("2 unexpected 't'") == 0);
  CHECK(refusal("list", "policies a=b").find("2 unexpected 'a=b'") == 0);
  CHECK(refusal("model", "m --dtype flot32").find("(did you mean 'float32'?)") !=
        std::string::npos);
}

TEST_CASE("The value of an integer option must be just an integer within the option's range") {
  CHECK(parsed("show", "t --width 80").integer("width", 100, 40, 1000) == 80);
  CHECK(parsed("show", "t").integer("width", 100, 40, 1000) == 100);
  for (const char* width : {"39", "1001", "80x", "8e1", "+80", "99999999999999999999"})
    CHECK(error_of([&] {
            parsed("show", std::string("t --width=") + width).integer("width", 100, 40, 1000);
          }).find("2 '" + std::string(width) + "' for '--width'") == 0);
}

TEST_CASE(
    "Every command has a summary, a usage, examples, and a function or subcommands, and its help shows its "
    "options") {
  for (const Command* entry : command_catalog().entries()) {
    INFO(entry->name);
    CHECK(entry->summary.back() == '.');
    CHECK(!entry->usage.empty());
    CHECK(!entry->examples.empty());
    CHECK((entry->run != nullptr) != (entry->subcommands != nullptr));
    const std::string help = help_of(*entry);
    for (const Option& option : entry->options)
      CHECK(help.find("--" + option.name) != std::string::npos);
    CHECK(help_of_program().find("\n  " + entry->name + " ") != std::string::npos);
  }
}

TEST_CASE("Milliseconds show six significant digits and at least three decimals") {
  CHECK(milliseconds(0.00628197973) == "6.28198");
  CHECK(milliseconds(0.8) == "800");
  CHECK(milliseconds(1.256395946) == "1256.396");
  CHECK(milliseconds(0.000109226667) == "0.109227");
  CHECK(milliseconds(0) == "0");
}

TEST_CASE("Digits of numbers are grouped, and numbers and times are rounded for people") {
  CHECK(grouped(188459392) == "188 459 392");
  CHECK(grouped(-1234) == "-1 234");
  CHECK(grouped(999) == "999");
  CHECK(ratio(127.348) == "127.35");
  CHECK(ratio(2.19212) == "2.192");
  CHECK(ratio(0.636742) == "0.6367");
  CHECK(clock(41.2) == "42 s");
  CHECK(clock(187) == "3:07");
  CHECK(clock(7205) == "2:00:05");
  CHECK(figure(0.9906, "1") == "99.06 %");
  CHECK(figure(1, "sample") == "1 sample");
  CHECK(figure(900, "sample") == "900 samples");
  CHECK(figure(std::numeric_limits<double>::quiet_NaN(), "s") == "unknown");
}

TEST_CASE("Text from a file is shown on the terminal without its control characters") {
  CHECK(printable("a\x1b[31mb\nc\x7f") == "a?[31mb?c?");
  CHECK(printable("\xC2\x9B"
                  "31m") == "??31m");  // U+009B begins a control sequence
  CHECK(printable("caf\xC3\xA9 \xC2\xB5s") == "caf\xC3\xA9 \xC2\xB5s");
  CHECK(columns_of("caf\xC3\xA9") == 4);
}

TEST_CASE("A bar takes its full width for every share") {
  for (const double share :
       {-1.0, 0.0, 0.001, 0.5, 0.99, 1.0, 7.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK(columns_of(bar(share, 20)) == 20);
}

TEST_CASE("A CSV cell with a comma, a quote or an end of line is quoted") {
  const TextTable table{{{"a"}, {"b"}}, {{"1,2", "say \"no\""}, {"x\ny", ""}}};
  CHECK(table.csv() == "a,b\r\n\"1,2\",\"say \"\"no\"\"\"\r\n\"x\ny\",\r\n");
}

TEST_CASE(
    "In JSON an absent metric is null, a metric with keys is nested, and bytes are integers") {
  Summary summary;
  summary.metrics.push_back({"step_s", "s", "", SummaryValue::none("why")});
  summary.metrics.push_back(
      {"peak", "byte", "", SummaryValue::of({{{"gpu", "weight"}, 24e9}, {{"gpu", "input"}, 1}})});
  summary.metrics.push_back({"bound_by", "", "", SummaryValue::of("gpu")});
  CHECK(to_json(json_metrics(summary), 0) ==
        "{\"step_s\": null, \"peak\": {\"gpu\": {\"weight\": 24000000000, \"input\": 1}}, "
        "\"bound_by\": \"gpu\"}\n");
  CHECK(to_json(json_units(summary), 0) ==
        "{\"step_s\": \"s\", \"peak\": \"byte\", \"bound_by\": null}\n");
}

TEST_CASE(
    "The stage table has running totals, the times of transfers over the link, and the times of computation at "
    "the device's rate") {
  // The outputs of the two layers have 8 and 2 elements. The second layer has 16 parameters and 32 FLOP. An element has
  // 4 B. A transfer uses two channels, and the narrower channel has 2 B/s. The device has 4 FLOP/s and 100 B of memory.
  Model model;
  model.layers = {{"x", "input", {}, {8}, 8, 0, 0, 0}, {"d", "dense", {0}, {2}, 2, 16, 16, 32}};
  Platform platform;
  platform.name = "p";
  Device device;
  device.name = "gpu";
  device.rate = {{DType::float32, 4.0}};
  device.memory().capacity = 100;
  platform.devices = {device};
  platform.memories = {{"host", {}}};
  platform.channels = {{"wide", 5.0}, {"narrow", 2.0}};
  platform.edges = {{"host",
                     "gpu",
                     "l",
                     "down",
                     {0, 1},
                     9.0,
                     9.0}};  // the stage table does not count the set-up time of a transfer
  const Target target(platform, platform.devices.front(), DType::float32, plain_cost("peak"));

  const std::vector<TableRow> rows = stage_table(model, DType::float32, &target);
  CHECK(rows[1].total.state == 10);
  CHECK(rows[1].times->total_state == 20.0);       // (10 x 4 B) / (2 B/s)
  CHECK(rows[1].times->total_parameters == 32.0);  // (16 x 4 B) / (2 B/s)
  CHECK(rows[1].times->flop == 8.0);               // 32 FLOP / (4 FLOP/s)
  CHECK(rows[0].times->copies == 3);               // 100 B / (8 x 4 B)
  CHECK(rows[1].times->copies == 4);               // (100 - 64) B / (2 x 4 B)

  const TableSummary summary = summary_of(model, target);
  CHECK(summary.load_s == 32.0);
  CHECK(*summary.fill_s == 50.0);
  CHECK(*summary.copies == 1.5625);  // 100 / 64
  CHECK(summary.load_and_input_s == 48.0);
  CHECK(*summary.inferences_per_load == 4.0);  // 32 s for the load / 8 s for an inference
}

TEST_CASE("If the parameters alone exceed the memory, no sample fits next to them") {
  Model model;
  model.layers = {{"x", "input", {}, {8}, 8, 0, 0, 0}, {"d", "dense", {0}, {2}, 2, 26, 26, 52}};
  Platform platform;
  Device device;
  device.name = "gpu";
  device.rate = {{DType::float32, 4.0}};
  device.memory().capacity = 100;
  platform.devices = {device};
  platform.memories = {{"host", {}}};
  platform.channels = {{"l", 2.0}};
  platform.edges = {{"host", "gpu", "l", "down", {0}, 0, 0}};
  const Target target(platform, platform.devices.front(), DType::float32, plain_cost("peak"));
  CHECK(stage_table(model, DType::float32, &target)[1].times->copies == 0);  // 104 B of parameters
}

TEST_CASE("A progress line says the share that is done, the rate, and the time that is left") {
  CHECK(progress_words(25, 100, 5, "points") == "  25.0 %  5 points/s  15 s left");
  CHECK(progress_words(1, 4, 100, "points") == "  25.0 %  0.01 points/s  5:00 left");
  CHECK(progress_words(100, 100, 2, "") == " 100.0 %  0 s left");
  CHECK(progress_words(0, 100, 0, "points") == "   0.0 %  0 s left");
}
