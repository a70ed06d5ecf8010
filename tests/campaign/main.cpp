// The worker of the campaign. tests/campaign/run.py starts it. The worker checks random scenarios from equally spaced
// seeds until its time is over. It prints a line of JSON for each fault and for each scenario that takes more than
// 20 s, and a line with its totals at the end. After SIGTERM or SIGINT, it finishes its scenario and ends with its totals.
//   sluice_campaign FIRST STRIDE SECONDS KEEP    checks the seeds FIRST, FIRST + STRIDE …, and writes faults into KEEP
//   sluice_campaign SEED                         prints one scenario and its result
//   sluice_campaign FILE.yaml                    runs all checks on a scenario
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "campaign/trial.hpp"
#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice::test {
namespace {

constexpr int simgrid_every = 4;

volatile std::sig_atomic_t told_to_end = 0;

int which_of(std::uint64_t seed) {
  return static_cast<int>(seed % comparing_checks().size());
}

const char* word_of(Verdict::Kind kind) {
  static const char* const words[] = {"complete", "infeasible", "refused"};
  return words[static_cast<int>(kind)];
}

std::string all_of(const Trial& trial) {
  std::string all = trial.died;
  if (trial.verdict.kind == Verdict::Kind::refused) all += "refused: " + trial.verdict.message;
  for (const std::string& complaint : trial.verdict.complaints) all += complaint + "\n";
  return all;
}

void keep(const std::string& folder, std::uint64_t seed, const Trial& trial) {
  std::ofstream out(folder + "/seed_" + std::to_string(seed) + ".yaml");
  std::istringstream lines(all_of(trial));
  out << "# seed " << seed << "\n";
  for (std::string line; std::getline(lines, line);) out << "# " << line << "\n";
  out << trial.text;
}

int campaign(std::uint64_t first, std::uint64_t stride, double seconds, const std::string& folder) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::map<std::string, std::int64_t> kinds;
  std::int64_t tried = 0, faults = 0;
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, [](int) { told_to_end = 1; });
  for (std::uint64_t seed = first; told_to_end == 0 && spent() < seconds; seed += stride) {
    const int which = which_of(seed);
    const bool simgrid = seed % simgrid_every == 0;
    const double before = spent();
    Trial trial = try_seed(seed, which, simgrid);
    ++tried;
    if (spent() - before > 20)
      std::cout << to_json(object({{"slow_seed", static_cast<std::int64_t>(seed)}}), 0)
                << std::flush;
    ++kinds[trial.died.empty() ? word_of(trial.verdict.kind) : "died"];
    const std::string fault = trial.fault();
    if (fault.empty()) continue;
    ++faults;
    std::cout << to_json(
                     object({{"seed", static_cast<std::int64_t>(seed)}, {"fault", all_of(trial)}}),
                     0)
              << std::flush;
    keep(folder, seed, shrunk(std::move(trial), which, simgrid, 120));
  }
  std::cout << to_json(object({{"tried", tried},
                               {"complete", kinds["complete"]},
                               {"infeasible", kinds["infeasible"]},
                               {"refused", kinds["refused"]},
                               {"died", kinds["died"]},
                               {"faults", faults}}),
                       0)
            << std::flush;
  return faults > 0 ? 1 : 0;
}

int show(const Trial& trial) {
  std::cout << trial.text << "\n# " << word_of(trial.verdict.kind) << "\n"
            << trial.verdict.message << "\n"
            << all_of(trial);
  return trial.fault().empty() ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 4)
    return campaign(std::stoull(words[0]), std::stoull(words[1]), std::stod(words[2]), words[3]);
  if (words.size() != 1) {
    std::cerr << "sluice_campaign FIRST STRIDE SECONDS KEEP | SEED | FILE.yaml\n";
    return 2;
  }
  if (words[0].find(".yaml") == std::string::npos) {
    const std::uint64_t seed = std::stoull(words[0]);
    return show(try_seed(seed, which_of(seed), seed % simgrid_every == 0));
  }
  std::ifstream in(words[0]);
  std::stringstream text;
  text << in.rdbuf();
  return show(try_text(text.str(), -1, true));
}

}  // namespace
}  // namespace sluice::test

int main(int count, char** words) {
  return sluice::test::run({words + 1, words + count});
}
