// Tests the text of baselines, and the golden texts with which plans are compared.
#include <limits>

#include "document/load.hpp"
#include "plan/text.hpp"
#include "support/bad_input.hpp"
#include "support/check_case.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::vector<std::string> plan_changes(const std::string& got) {
  return compare_plans(plan_text, "s.plan", got).lines;
}

}  // namespace

TEST_CASE(
    "A baseline that is written and read back is equal. In its text, keys are sorted, and a newline is at "
    "its end") {
  const std::string text = to_text(baseline());
  const Baseline back = baseline_from(parse_text(text, "s.json"));
  CHECK(to_text(back) == text);
  CHECK(back.entries.at({"peak_bytes", "gpu"}).rtol == 0.01);
  CHECK(back.entries.at({"peak_bytes", "gpu"}).atol == 16);
  CHECK(*back.entries.at({"peak_bytes", "host"}).number == 0.1);
  CHECK(back.entries.at({"throughput", ""}).absent == "no sample was completed");
  CHECK(back.entries.at({"throughput", ""}).better == high);
  CHECK(back.input_text == question);
  CHECK(text.back() == '\n');
  CHECK(text[text.size() - 2] == '}');
  CHECK_THAT(text, Contains(R"(    "peak_bytes": {
      "by": {
        "gpu": {
          "atol": 16,
          "better": "lower",
          "rtol": 0.01,
          "unit": "s",
          "value": 1000000000
        },
)"));
  for (const char* keys : {"\"bound_by\"", "\"makespan_s\"", "\"peak_bytes\"", "\"throughput\""})
    CHECK_THAT(text, Contains(keys));
  CHECK(text.find("\"bound_by\"") < text.find("\"makespan_s\""));
  CHECK(text.find("\"input\"") < text.find("\"metrics\""));
}

TEST_CASE("A baseline that was damaged by hand is refused at the fault") {
  const std::string text = to_text(baseline());
  const auto refused = [&](const std::string& from, const std::string& to) {
    return error_of([&] { baseline_from(parse_text(edited(text, from, to), "s.json")); });
  };
  CHECK_THAT(refused("\"value\": 2", "\"value\": [2]"),
             StartsWith("3 s.json:") && Contains("expected a number, a word or null"));
  CHECK_THAT(refused("\"rtol\": 0.01", "\"rtol\": -0.01"), Contains("at least 0"));
  CHECK_THAT(refused("\"rtol\": 0.01", "\"rtoll\": 0.01"), Contains("did you mean 'rtol'"));
  CHECK_THAT(refused("\"better\": \"lower\"", "\"better\": \"less\""),
             Contains("one of: lower, higher, neither"));
  CHECK_THAT(refused("sluice-baseline/1", "sluice-baseline/2"), Contains("newer"));
  CHECK_THAT(refused("overlap: true", "overlap: false"), Contains("sha256"));
  CHECK_THAT(refused("\"value\": 2", "\"value\": "), Contains("this is not JSON"));
  CHECK_THAT(refused("\"outcome\": \"complete\"", "\"outcome\": \"fine\""), Contains("outcome"));
}

TEST_CASE("Every metric of a summary becomes an entry, or one entry for each of its keys") {
  Summary summary;
  summary.metrics.push_back({"makespan_s", "s", "", SummaryValue::of(2.0)});
  summary.metrics.push_back({"peak_bytes_by_class", "byte", "",
                             SummaryValue::of({{{"a/b", "weight"}, 1}, {{"a", "b/weight"}, 2}})});
  summary.metrics.push_back({"bound_by", "", "", SummaryValue::of("gpu")});
  summary.metrics.push_back({"step_s", "s", "", SummaryValue::none("no body")});
  summary.metrics.push_back(
      {"samples", "sample", "", SummaryValue::of(std::numeric_limits<double>::infinity())});
  const Entries entries = entries_of(summary);
  REQUIRE(entries.size() == 6);
  CHECK(entries.at({"makespan_s", ""}).better == low);
  CHECK(entries.at({"makespan_s", ""}).rtol == 1e-9);
  CHECK(entries.at({"makespan_s", ""}).atol == 0);
  CHECK(*entries.at({"peak_bytes_by_class", "a\\/b/weight"}).number == 1);
  CHECK(*entries.at({"peak_bytes_by_class", "a/b\\/weight"}).number == 2);
  CHECK(entries.at({"bound_by", ""}).text == "gpu");
  CHECK(entries.at({"step_s", ""}).absent == "no body");
  CHECK_FALSE(entries.at({"samples", ""}).number);
}

TEST_CASE(
    "Differences between two plans are reported, except for numbers that differ only in the last digits") {
  CHECK(plan_changes(plan_text).empty());
  CHECK(plan_changes(edited(plan_text, "seconds=0.5", "seconds=0.50000000000001")).empty());
  CHECK(plan_changes(edited(plan_text, "seconds=0.5", "seconds=0.505")) ==
        std::vector<std::string>{"body 0F: seconds 0.5 -> 0.505"});
  CHECK(plan_changes(edited(plan_text, "30GB/s", "29.7GB/s")) ==
        std::vector<std::string>{"link host.down: bandwidth 30GB/s -> 29.7GB/s"});
  // Integers are compared exactly, however large they are.
  CHECK(plan_changes(edited(plan_text, "capacity=100B", "capacity=100000000000B")).size() == 1);
  CHECK(compare_plans(edited(plan_text, "=100B", "=100000000000B"), "s.plan",
                      edited(plan_text, "=100B", "=100000000001B"))
            .lines.size() == 1);
  CHECK(plan_changes(edited(plan_text, " waits=0LOAD", "")) ==
        std::vector<std::string>{"body 1F: waits 0LOAD -> (nothing)"});
  CHECK(plan_changes(edited(plan_text, " shared", " not_enforced")) ==
        std::vector<std::string>{"pool host: shared -> not_enforced"});
}

TEST_CASE(
    "Reports say whether lines were added, removed or moved, and the same change of many lines is reported only "
    "once") {
  const std::string first = "0F on=gpu.compute kind=forward stage=0 samples=1 seconds=0.5\n";
  const std::string load =
      "0LOAD on=gpu.down kind=load moves=w route=host>gpu bytes=10 allocates=w@gpu uses=w@gpu\n";
  CHECK(plan_changes(edited(plan_text, first, "")) == std::vector<std::string>{"body 0F: gone"});
  CHECK(plan_changes(plan_text + "2F on=gpu.compute kind=forward seconds=1\n") ==
        std::vector<std::string>{"body 2F: new"});
  CHECK(plan_changes(edited(plan_text, first + load, load + first)) ==
        std::vector<std::string>{
            "order: 2 lines have moved; in place of body 0F there is body 0LOAD"});
  const std::string slower =
      edited(edited(plan_text, "samples=1", "samples=2"), "samples=1", "samples=2");
  CHECK(plan_changes(slower) == std::vector<std::string>{"body 0F and 1 more: samples 1 -> 2"});
}

TEST_CASE(
    "The digest of a long plan shows sums for each stage and stream, and whether the order has changed") {
  const auto digest = [](const std::string& text) {
    return digest_text(plan_from_text(text, "s.plan"));
  };
  const std::string kept = digest(plan_text);
  // Each of the two iterations computes for 0.5 s + 0.25 s, and loads 10 bytes.
  CHECK_THAT(kept, Contains("\ncompute conv seconds=1.5\n"));
  CHECK_THAT(kept, Contains("\non body gpu.down actions=1 executions=2 bytes=20 seconds=0 "));
  CHECK(compare_plans(kept, "s.plan", digest(plan_text)).none());
  const auto slower = compare_plans(kept, "s.plan", digest(edited(plan_text, "=0.5", "=0.505")));
  // The digest has sums for the section, the stream and the stage of 0F. Each of these sums grows
  // by 2 x 0.005 s.
  REQUIRE(slower.lines.size() == 1);
  CHECK_THAT(slower.lines[0], Contains("on body gpu.compute and 2 more: seconds 1.5 -> 1.51"));
  CHECK(
      compare_plans(kept, "s.plan", digest(edited(plan_text, "=0.5", "=0.50000000000001"))).none());
  const auto waits = compare_plans(kept, "s.plan", digest(edited(plan_text, " waits=0LOAD", "")));
  REQUIRE_FALSE(waits.none());
  CHECK_THAT(waits.lines[0], Contains("on body gpu.compute: order"));
}

TEST_CASE(
    "A plan that has become too long for a golden text is compared by the sums of its digest") {
  const std::string digest = digest_text(plan_from_text(plan_text, "s.plan"));
  const std::string full = to_text(plan_from_text(plan_text, "s.plan"));
  CHECK(compare_plans(digest, "s.plan", full).none());
  CHECK(compare_plans(full, "s.plan", digest).none());
  CHECK_THAT(error_of([&] { compare_plans("what?", "s.plan", full); }),
             StartsWith("3 s.plan:1:1: error: this is not a golden text"));
}
