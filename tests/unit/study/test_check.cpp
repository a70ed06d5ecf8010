// Tests the verdicts of `sluice check`: on numbers, on the plan, and on whether the question is the same. Also tests
// how the verdicts are reported.
#include "command/check/report.hpp"
#include "support/check_case.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// Returns the verdict on a number that is `from` in the baseline and `to` now.
Verdict moved(double from, double to, Metric::Better better, double rtol = 1e-9, double atol = 0) {
  return judge(number(from, better, rtol, atol), number(to, neither, 1, 1));
}

ScenarioVerdict against(const Measurement& got, const Baseline& expected = baseline()) {
  return compare(expected, plan_text, "s.plan", got);
}

}  // namespace

TEST_CASE(
    "A number within its tolerance counts as equal, and any other number as better or worse") {
  CHECK(moved(100, 100, low) == Verdict::equal);
  CHECK(moved(100, 101, low) == Verdict::worse);
  CHECK(moved(100, 99, low) == Verdict::better);
  CHECK(moved(100, 101, high) == Verdict::better);
  CHECK(moved(100, 99, high) == Verdict::worse);
  CHECK(moved(100, 101, neither) == Verdict::changed);
  CHECK(moved(-100, -101, low) == Verdict::better);
  // The tolerance is atol + rtol x |expected| = 0.5 + 0.25 x 100 = 25.5. All these numbers are exact in binary.
  CHECK(moved(100, 125.5, low, 0.25, 0.5) == Verdict::equal);
  CHECK(moved(100, 125.75, low, 0.25, 0.5) == Verdict::worse);
  CHECK(moved(100, 74.5, high, 0.25, 0.5) == Verdict::equal);
  // rtol is a share of the number in the baseline. This number is 0, so rtol allows no difference.
  CHECK(moved(0, 1e-300, low) == Verdict::worse);
  CHECK(moved(0, 1e-300, low, 1e-9, 1e-12) == Verdict::equal);
  // The tolerance is 1e-9. The difference 2^-30 is below the tolerance, and the difference 2^-29 is above it.
  CHECK(moved(1, 1 + 0x1p-30, low) == Verdict::equal);
  CHECK(moved(1, 1 + 0x1p-29, low) == Verdict::worse);
}

TEST_CASE("A number that no longer exists is worse if it has a direction") {
  Entry absent;
  absent.absent = "no sample was completed";
  CHECK(judge(number(1, high), absent) == Verdict::worse);
  CHECK(judge(number(1, neither), absent) == Verdict::changed);
  CHECK(judge(absent, number(1, high)) == Verdict::changed);
  CHECK(judge(absent, absent) == Verdict::equal);
  CHECK(judge(std::nullopt, number(1)) == Verdict::changed);
  CHECK(judge(number(1), std::nullopt) == Verdict::changed);
  CHECK(judge(word("a"), word("a")) == Verdict::equal);
  CHECK(judge(word("a"), word("b")) == Verdict::changed);
}

TEST_CASE("A difference is given as a share only of values that are not zero") {
  MetricVerdict metric;
  metric.expected = number(-4);
  metric.got = number(-3);
  CHECK(*metric.difference() == 1);
  CHECK(*metric.share() == 0.25);
  metric.expected = number(0);
  CHECK(*metric.difference() == -3);
  CHECK_FALSE(metric.share());
  metric.got.reset();
  CHECK_FALSE(metric.difference());
}

TEST_CASE(
    "A result whose numbers are all equal is equal, and a result with one worse number is worse") {
  CHECK(against(same()).state == State::equal);
  Measurement got = same();
  got.baseline.entries[{"peak_bytes", "host"}].number = 0.05;
  CHECK(against(got).state == State::better);
  got.baseline.entries[{"makespan_s", ""}].number = 2.02;
  const ScenarioVerdict worse = against(got);
  CHECK(worse.state == State::worse);
  CHECK(worse.count(Verdict::worse) == 1);
  CHECK(worse.count(Verdict::better) == 1);
  CHECK(worse.count(Verdict::equal) == 3);
}

TEST_CASE("The tolerance and the direction of a number come from the baseline") {
  Measurement got = same();
  got.baseline.entries[{"peak_bytes", "gpu"}] = number(1.009e9, neither);  // 0.9 % more
  CHECK(against(got).state == State::equal);
  got.baseline.entries[{"peak_bytes", "gpu"}] = number(1.02e9, neither);
  CHECK(against(got).state == State::worse);
}

TEST_CASE("A metric or a key that was added or removed counts as changed, not as worse") {
  Measurement got = same();
  got.baseline.entries.erase({"peak_bytes", "host"});
  got.baseline.entries[{"new_metric", ""}] = number(1);
  const ScenarioVerdict verdict = against(got);
  CHECK(verdict.state == State::changed);
  CHECK(verdict.count(Verdict::changed) == 2);
}

TEST_CASE("The report of a changed question names the keys that differ") {
  Measurement got = same();
  got.baseline.input_text = "policy:\n  name: resident\n  overlap: false\n  buffers: 3\n";
  got.baseline.input_sha256 = sha256_of(got.baseline.input_text);
  const ScenarioVerdict verdict = against(got);
  CHECK(verdict.state == State::changed);
  CHECK(verdict.input_changed);
  REQUIRE(verdict.input.size() == 2);
  CHECK(verdict.input[0].key == "policy.overlap");
  CHECK(verdict.input[0].expected == "true");
  CHECK(verdict.input[0].got == "false");
  CHECK(verdict.input[1].key == "policy.buffers");
  CHECK(verdict.input[1].expected == "");
  CHECK(verdict.input[1].got == "3");
  CHECK(verdict.plan.none());
}

TEST_CASE(
    "If the question is a plan file, a change of the file is a changed plan, not a changed "
    "question") {
  Baseline expected = baseline();
  expected.input = Baseline::Input::plan;
  expected.input_text.clear();
  Measurement got = same();
  got.baseline.input = Baseline::Input::plan;
  got.baseline.input_sha256 = "another";
  got.plan = edited(plan_text, "iterations 2", "iterations 3");
  const ScenarioVerdict verdict = against(got, expected);
  CHECK_FALSE(verdict.input_changed);
  CHECK(verdict.plan.lines == std::vector<std::string>{"iterations: 2 -> 3"});
  CHECK(verdict.state == State::changed);
}

TEST_CASE(
    "A plan that no longer fits is worse, and a plan that fits now but did not fit before is better") {
  Measurement infeasible;
  infeasible.baseline = baseline();
  infeasible.baseline.outcome = Baseline::Outcome::infeasible;
  infeasible.baseline.message = "out of memory";
  infeasible.baseline.entries.clear();
  infeasible.plan = plan_text;
  CHECK(against(infeasible).state == State::worse);
  CHECK(against(infeasible).metrics.empty());
  CHECK(against(same(), infeasible.baseline).state == State::better);
  CHECK(against(infeasible, infeasible.baseline).state == State::equal);
  Baseline other = infeasible.baseline;
  other.message = "blocks for ever";
  CHECK(against(infeasible, other).state == State::changed);
  CHECK_THAT(against(infeasible, other).message, Contains("infeasible: blocks for ever\ngot: "));
}

TEST_CASE(
    "Stages and links that became slower are named, and the one with the largest change comes first") {
  Baseline expected = baseline();
  expected.entries[{"compute_s_by_stage", "conv"}] = number(1);
  expected.entries[{"compute_s_by_stage", "full"}] = number(1);
  expected.entries[{"full_rate_s_by_link", "host.down"}] = number(2);
  Measurement got = same();
  got.baseline = expected;
  got.baseline.entries[{"compute_s_by_stage", "full"}].number = 1.01;
  got.baseline.entries[{"full_rate_s_by_link", "host.down"}].number = 3;
  CHECK(slower_parts(against(got, expected)) ==
        std::vector<std::string>{"the bytes over link 'host.down' take 50 % longer at full rate",
                                 "stage 'full' computes 1 % longer"});
}

TEST_CASE("Reports escape the special characters of the format in which they are written") {
  CheckReport report;
  report.folder = "it's here";
  ScenarioVerdict verdict;
  verdict.name = "a<b>&\"c\":1,2%";
  verdict.path = "x y.yaml";
  verdict.state = State::missing;
  verdict.message = "no \x01 baseline";
  report.result.scenarios = {verdict};
  report.result.written = {false};
  CHECK(report.exit_code() == 1);
  CHECK(report.accept_command() == "sluice check 'x y.yaml' --baseline 'it'\\''s here' --update");
  const std::string xml = check_junit(report);
  CHECK_THAT(xml, Contains("name=\"a&lt;b&gt;&amp;&quot;c&quot;:1,2%\""));
  CHECK(xml.find('\x01') == std::string::npos);
  CHECK_THAT(check_github(report),
             StartsWith("::error file=x y.yaml,title=a<b>&\"c\"%3A1%2C2%25 is missing::missing: "));
  CHECK_THAT(check_json(report), Contains(R"("scenario": "a<b>&\"c\":1,2%")"));
}

TEST_CASE(
    "The check fails for worse or missing results, and with --strict for every result that is not equal") {
  CheckReport report;
  const auto exit_code = [&](State state, int error_code = 0) {
    ScenarioVerdict verdict;
    verdict.state = state;
    verdict.error_code = error_code;
    report.result.scenarios = {{}, verdict};
    report.result.written = {false, false};
    return report.exit_code();
  };
  CHECK(exit_code(State::equal) == 0);
  CHECK(exit_code(State::better) == 0);
  CHECK(exit_code(State::changed) == 0);
  CHECK(exit_code(State::worse) == 1);
  CHECK(exit_code(State::missing) == 1);
  CHECK(exit_code(State::error, 3) == 3);
  report.strict = true;
  CHECK(exit_code(State::equal) == 0);
  CHECK(exit_code(State::better) == 1);
  CHECK(exit_code(State::changed) == 1);
  report.strict = false;
  report.update = true;
  CHECK(exit_code(State::worse) == 0);
  CHECK(exit_code(State::missing) == 0);
  CHECK(exit_code(State::error, 5) == 5);
}
