// Checks a few scenarios of the campaign with fixed seeds, and the scenarios in which longer campaigns found faults.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "campaign/generator.hpp"
#include "campaign/invariants.hpp"
#include "campaign/trial.hpp"
#include "plan/tables.hpp"
#include "support/campaign.hpp"
#include "support/source_folder.hpp"

namespace sluice {
namespace {

constexpr int no_comparison = 1000;  // if `which` is this number, no comparing check runs

std::string complaints_of(const test::Trial& trial) {
  std::string all = trial.died;
  for (const std::string& complaint : trial.verdict.complaints) all += "\n" + complaint;
  return all;
}

TEST_CASE("all claims hold for random scenarios", "[property]") {
  using Kind = test::Verdict::Kind;
  const int comparing = static_cast<int>(test::comparing_checks().size());
  int complete = 0;
  for (int seed = 1; seed <= test::cases_of(30, 60); ++seed) {
    const test::Trial trial =
        test::try_seed(static_cast<std::uint64_t>(seed), seed % comparing, seed % 4 == 0);
    INFO("seed " << seed << "\n" << trial.text << trial.verdict.message);
    CHECK(complaints_of(trial) == "");
    CHECK(trial.verdict.kind != Kind::refused);
    complete += trial.verdict.kind == Kind::complete ? 1 : 0;
  }
  CHECK(complete > test::cases_of(10, 20));
}

TEST_CASE("SimGrid and the replay write equal traces of random scenarios without contention",
          "[property]") {
  int alike = 0;
  for (int seed = 1; seed <= test::cases_of(20, 40); ++seed) {
    const test::Trial drawn = test::try_seed(static_cast<std::uint64_t>(seed), no_comparison, true);
    INFO("seed " << seed << "\n" << drawn.text);
    CHECK(complaints_of(drawn) == "");
    if (drawn.verdict.kind != test::Verdict::Kind::complete) continue;
    alike += PlanTables(test::executed(drawn.text).plan()).contention_free() ? 1 : 0;
  }
  CHECK(alike >= test::cases_of(20, 40) / 10);
}

TEST_CASE("equal draws make equal scenarios, and fewer draws also make a scenario") {
  const test::Trial whole = test::try_seed(7, 0, false);
  CHECK(test::try_tape(whole.tape, 0, false).text == whole.text);
  test::Draws::Tape half(whole.tape.begin(),
                         whole.tape.begin() + static_cast<std::ptrdiff_t>(whole.tape.size() / 2));
  CHECK(test::try_tape(half, 0, false).verdict.kind != test::Verdict::Kind::refused);
  CHECK(test::try_tape({}, 0, false).verdict.kind == test::Verdict::Kind::complete);
}

TEST_CASE("random scenarios say the phases of the last turn with and without a number in flight") {
  int with_number = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    test::Draws draws(seed);
    const std::string text = test::random_question(draws).text;
    if (text.find("last_turn: ") == std::string::npos) continue;
    ++(text.find("in_flight: ") == std::string::npos ? without : with_number);
  }
  CHECK(with_number > 0);
  CHECK(without > 0);
}

/// Checks all claims of the program for the kept scenarios whose place in the order of their names leaves this remainder
/// when it is divided by `parts`. The parts are separate tests, so that they can run at the same time.
void check_kept(std::size_t remainder, std::size_t parts) {
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(test::source_folder() + "/tests/campaign/kept"))
    files.push_back(file.path());
  std::ranges::sort(files);
  REQUIRE(files.size() > parts);
  for (std::size_t i = remainder; i < files.size(); i += parts) {
    std::ifstream in(files[i]);
    std::stringstream text;
    text << in.rdbuf();
    const test::Trial trial = test::try_text(text.str(), -1, true);
    INFO(files[i]);
    CHECK(complaints_of(trial) == "");
    CHECK(trial.verdict.kind != test::Verdict::Kind::refused);
  }
}

TEST_CASE("all claims hold for scenarios in which campaigns once found faults, part 1") {
  check_kept(0, 6);
}
TEST_CASE("all claims hold for scenarios in which campaigns once found faults, part 2") {
  check_kept(1, 6);
}
TEST_CASE("all claims hold for scenarios in which campaigns once found faults, part 3") {
  check_kept(2, 6);
}
TEST_CASE("all claims hold for scenarios in which campaigns once found faults, part 4") {
  check_kept(3, 6);
}
TEST_CASE("all claims hold for scenarios in which campaigns once found faults, part 5") {
  check_kept(4, 6);
}
TEST_CASE("all claims hold for scenarios in which campaigns once found faults, part 6") {
  check_kept(5, 6);
}

TEST_CASE("a complaint names the two compared numbers, and errors of rounding are not reported") {
  test::Complaints complaints;
  complaints.at_most(2, 1, "two is at most one");
  complaints.equal(1, 1 + 1e-12, "nearly one");
  complaints.equal(1, 2, "one is two");
  CHECK(complaints.all().size() == 2);
  CHECK(complaints.all().front() == "two is at most one: 2 > 1");
}

}  // namespace
}  // namespace sluice
