// Compares `optimal` in random runs with the strategies that treat every stage alike. Also executes many tapes. No tape
// may be faster than the bound that `optimal` reports.
#include <catch2/catch.hpp>

#include <algorithm>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/frontier.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

const std::vector<std::string> alike = {"keep_all", "recompute_all", "offload_all", "checkpoint",
                                        "sqrt"};

int chains() {
  return test::cases_of(60);
}

class Run {
 public:
  explicit Run(test::Dice& dice) : text_(test::random_training(dice)) {}

  /// Returns the seconds of the run, or infinity if the run does not fit.
  double seconds(const std::string& strategy, std::int64_t capacity) const {
    try {
      return replay(make_plan(scenario(strategy, capacity))).makespan;
    } catch (const Infeasible&) {
      return never;
    }
  }

  std::int64_t peak(const std::string& strategy) const {
    return replay(make_plan(scenario(strategy, std::int64_t{1} << 50))).peaks.front();
  }

  Scenario scenario(const std::string& strategy, std::int64_t capacity) const {
    Value document = parse_text(text_ + "fates: {strategy: " + strategy + "}\n", "random.yaml");
    apply_overrides(document,
                    {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"});
    return read_scenario(std::move(document), "random");
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST_CASE("optimal is never slower than any strategy that treats every stage alike", "[property]") {
  test::Dice dice(1001);
  int compared = 0, faster = 0;
  double worst = 0;
  for (int k = 0; k < chains(); ++k) {
    const Run run(dice);
    const std::int64_t most = run.peak("keep_all"), least = run.peak("sqrt");
    const auto capacity =
        std::min(most, least) + static_cast<std::int64_t>(static_cast<double>(most) *
                                                          static_cast<double>(dice.below(5)) / 8);
    double best = never;
    for (const std::string& strategy : alike)
      best = std::min(best, run.seconds(strategy, capacity));
    const double optimal = run.seconds("optimal", capacity);
    INFO(run.text() << "capacity " << capacity);
    CHECK((optimal <= best * (1 + 5e-4)));
    compared += best < never;
    if (best < never) worst = std::max(worst, optimal / best - 1);
    faster += optimal < best * (1 - 1e-9);
  }
  CAPTURE(compared, faster, worst);
  CHECK(worst <= 5e-4);
  CHECK(compared > chains() / 2);
  CHECK(faster > 0);
}

TEST_CASE(
    "with more memory, a run of optimal is never slower, and is never refused if it fits into less memory",
    "[property]") {
  test::Dice dice(1003);
  int faster = 0;
  for (int k = 0; k < chains() / 2; ++k) {
    const Run run(dice);
    const std::int64_t most = run.peak("keep_all");
    double before = never;
    for (int step = 1; step <= 8; ++step) {
      const double now = run.seconds("optimal", most * (step + 2) / 9);
      INFO(run.text() << "capacity " << most * (step + 2) / 9 << ": " << now / before - 1);
      CHECK((now == before || now <= before * (1 + 1e-9)));
      faster += now < before * (1 - 1e-9);
      before = now;
    }
    CHECK(before < never);
  }
  CHECK(faster > chains() / 4);
}

/// The parts of a scenario that the search of `optimal` reads. The member functions return the seconds of a tape, and
/// bounds for a budget.
struct FateQuestion {
  Scenario scenario;
  CutModel cut;
  PolicyRequest request;
  bool overlap;
  Chain chain;
  std::vector<StageState> states;
  TrainingOrder order;

  explicit FateQuestion(Scenario whole)
      : scenario(std::move(whole)),
        cut(cut_model(scenario)),
        request{{cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform,
                 *scenario.cost, scenario.workload.dtype, &*scenario.workload.training},
                scenario.workload,
                plain_fates(fate_catalog().find("optimal"))},
        overlap(scenario.document.find("policy")->find("overlap")->text() == "true"),
        chain(chain_of(request, scenario.platform.devices.front(), {.overlap = overlap})),
        states(states_of(request, scenario.platform.devices.front(), {.overlap = overlap})),
        order{"resident", true, 1, {"gpu"}, overlap} {}

  std::int64_t constant() const {
    std::int64_t bytes = 0;
    for (const StageState& state : states)
      bytes += state.weights + state.gradients + state.optimizer;
    return bytes;
  }

  double seconds(const Tape& tape, std::int64_t budget) const {
    const Workload& workload = scenario.workload;
    const StepShape shape{chain,
                          tape,
                          states,
                          workload.batch / workload.micro_batch,
                          workload.batches_per_step,
                          1,
                          true,
                          workload.training->split_backward};
    return score({request, shape, order, budget + constant()}).seconds;
  }

  /// Returns the bound that `optimal` reports for a run within a budget.
  double bound(std::int64_t budget) const {
    const FateRun run = run_of(scenario.workload, chain, states);
    if (!overlap) return run.micro_batches * fate_bound(chain, budget, Copies::serial);
    return run_bound(chain, run, bound_of(chain, budget, Copies::overlapped).halves);
  }

  /// Returns the bound on the seconds of all micro-batches, without the updates of the weights. A fact of the plan
  /// states this bound.
  double micro_batches_bound(std::int64_t budget) const {
    return run_of(scenario.workload, chain, states).micro_batches *
           fate_bound(chain, budget, overlap ? Copies::overlapped : Copies::serial);
  }
};

TEST_CASE("no execution is faster than the bound of optimal", "[property]") {
  test::Dice dice(1002);
  int executed = 0;
  double closest = never;
  for (int k = 0; k < chains(); ++k) {
    const Run run(dice);
    const FateQuestion question(run.scenario("keep_all", std::int64_t{1} << 50));
    const Frontier frontier(question.chain);
    std::vector<Tape> tapes = alike_tapes(question.chain);
    for (int i = 0; i < 6; ++i)
      tapes.push_back(
          tape_of(question.chain, test::fates_number(dice.next(), question.chain.stages.size())));
    for (int i = 0; i < 3; ++i)
      tapes.push_back(frontier.tape(dice.below(frontier.points().size())));
    for (const Tape& tape : tapes) {
      const std::int64_t budget = memory_of(question.chain, tape).peak;
      for (const std::int64_t room : {budget, budget + budget / 4}) {
        const double seconds = question.seconds(tape, room);
        if (seconds == never) continue;
        const double bound = question.bound(room);
        INFO(run.text() << "within " << room);
        CHECK(seconds >= bound * (1 - 1e-9));
        CHECK(seconds >= question.micro_batches_bound(room) * (1 - 1e-9));
        closest = std::min(closest, seconds / bound);
        ++executed;
      }
    }
  }
  CAPTURE(executed);
  CHECK(closest < 1 + 1e-9);  // some run takes exactly as long as its bound
  CHECK(executed > 10 * chains());
}

}  // namespace
}  // namespace sluice
