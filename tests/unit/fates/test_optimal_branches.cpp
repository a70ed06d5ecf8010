// Tests fates in networks that branch. A tensor that two operations read is counted only once. In small networks,
// `optimal` and its bound are compared with an exhaustive search of all schedules.
#include <catch2/catch.hpp>

#include <algorithm>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "fates/optimal/joint.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/brute_fates.hpp"
#include "support/campaign.hpp"
#include "support/drawn_layers.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

using test::Drawn;
using test::random_layers;

constexpr std::int64_t plenty = std::int64_t{1} << 40;

/// Returns a scenario with one layer per stage. At 1 GFLOP/s, 1000 FLOP take 1 us. At 1 GB/s, 1 kB takes 1 us.
std::string text_of(int image, const std::vector<Drawn>& layers, const std::string& policy,
                    bool overlap) {
  return "format: sluice-scenario/1\n" + test::model_text(image, layers) +
         "platform:\n  format: sluice-platform/1\n  name: small\n"
         "  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}}\n"
         "  memories: {host: {capacity: unlimited}}\n"
         "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, duplex: full}}\n"
         "workload: {mode: training, batch: 1, optimizer: none}\nstages: {cut: per_layer}\n"
         "cost: {model: peak}\npolicy: {name: " +
         policy + (policy == "streamed" ? ", resident: none" : "") +
         ", overlap: " + (overlap ? "true}\n" : "false}\n");
}

/// A training run of the scenario that text_of() returns.
class Run {
 public:
  Run(int image, const std::vector<Drawn>& layers, bool overlap,
      const std::string& policy = "resident")
      : text_(text_of(image, layers, policy, overlap)),
        overlap_(overlap),
        asked_(scenario("keep_all", plenty)) {
    const CutModel cut = cut_model(asked_);
    stages_ = cut.stages;
    const PolicyRequest request = this->request();
    const Device& gpu = asked_.platform.devices.front();
    chain_ = chain_of(request, gpu, {.overlap = overlap});
    const std::vector<StageState> states = states_of(request, gpu, {.overlap = overlap});
    if (policy != "resident") {
      const TrainingOrder order{policy.c_str(), false, {}, {gpu.name}, overlap};
      const SideBySide all =
          side_by_side(chain_, states, asked_.workload, shape_of(request, order, 1));
      chain_ = all.chain;
      if (!overlap) weights_s_ = {all.run.idle_s()};
      return;
    }
    for (const StageState& state : states) {
      weights_s_.push_back(state.weights_load_s);
      constant_ += state.weights + state.gradients + state.optimizer;
    }
  }

  const Chain& chain() const { return chain_; }
  const std::string& text() const { return text_; }

  Plan plan(const std::string& strategy, std::int64_t budget) const {
    return make_plan(scenario(strategy, budget == plenty ? plenty : budget + constant_));
  }
  /// Returns two numbers of bytes: the smallest that is enough for one of the strategies that treat every stage alike,
  /// and a number that is enough to keep all tensors.
  std::pair<std::int64_t, std::int64_t> peaks() const {
    std::int64_t low = plenty;
    const std::vector<Tape> alike = alike_tapes(chain_);
    // Without a limit, weights that take turns come early with overlap. Then they take more bytes than they need.
    const bool early = overlap_ && weights_s_.empty();
    for (const Tape& tape : alike)
      if (early) low = std::min(low, memory_of(chain_, tape).peak);
    if (early) return {low, memory_of(chain_, alike.front()).peak};
    for (const char* strategy : {"recompute_all", "offload_all", "checkpoint"})
      low = std::min(low, peak(strategy));
    return {low, std::max(low, peak("keep_all"))};
  }
  std::int64_t peak(const std::string& strategy) const {
    return replay(plan(strategy, plenty)).peaks.front() - constant_;
  }
  test::BruteForce brute_force(std::int64_t budget, double below) const {
    return test::brute_force(chain_, budget, weights_s_, overlap_, below);
  }

 private:
  Scenario scenario(const std::string& strategy, std::int64_t capacity) const {
    Value document = parse_text(text_ + "fates: {strategy: " + strategy + "}\n", "drawn.yaml");
    apply_overrides(document,
                    {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"});
    return read_scenario(std::move(document), "drawn");
  }
  PolicyRequest request() const {
    return {{asked_.model, stages_, asked_.platform, *asked_.cost, asked_.workload.dtype,
             &*asked_.workload.training},
            asked_.workload};
  }

  std::string text_;
  bool overlap_;
  Scenario asked_;
  std::vector<Stage> stages_;
  Chain chain_;
  std::vector<double> weights_s_;
  std::int64_t constant_ = 0;
};

/// A model of the layers `a`, `b`, `c`, `sum` and `d`. The layer `sum` adds the outputs of `a` and `c`, and its
/// backward pass reads no inputs. The backward passes of the other layers read the inputs of their layers. The image
/// has 1 kB. The outputs of `a`, `b`, `c` and `sum` have 2 kB each, and the output of `d` has 1 kB.
const std::vector<Drawn> block = {{500, 2000, {0}, "inputs"},
                                  {500, 4000, {1}, "inputs"},
                                  {500, 6000, {2}, "inputs"},
                                  {500, 2000, {3, 1}, "nothing"},
                                  {250, 4000, {4}, "inputs"}};

TEST_CASE("branches: a stage says which boundaries it reads, and makes only its own output") {
  const Run run(250, block, true);
  const Chain& chain = run.chain();
  REQUIRE(chain.branches());
  using Reads = std::vector<ChainRead>;
  CHECK(chain.stages[0].reads == Reads{{0, true}});
  CHECK(chain.stages[1].reads == Reads{{1, true}});
  CHECK(chain.stages[2].reads == Reads{{2, true}});
  CHECK(chain.stages[3].reads == Reads{{1, false}, {3, false}});
  CHECK(chain.stages[4].reads == Reads{{4, true}});
  for (std::size_t s = 0; s < 4; ++s) CHECK(chain.stages[s].output.bytes == 2000);
}

TEST_CASE("branches: a tensor that two operations read is on the device only once") {
  // All tensors are kept. The image and the outputs of `a`, `b` and `sum` stay on the device, together 7 kB. The output
  // of `c` stays only until `sum` has read it. The peak is during the backward pass of `d`. The device then holds the 7
  // kB, the output of `d` (1 kB), the gradient of this output (1 kB of workspace) and the gradient of the output of
  // `sum` (2 kB). The output of `a` crosses the boundaries after `b` and `c`. If each of these two boundaries had a
  // copy of it, the peak would be 4 kB higher.
  const Run run(250, block, true);
  CHECK(run.peak("keep_all") == 1000 + 3 * 2000 + 1000 + 1000 + 2000);
  CHECK(memory_of(run.chain(), alike_tapes(run.chain()).front()).peak == run.peak("keep_all"));
}

TEST_CASE(
    "branches: the fate of a stage applies to the stage's own output, and no other tensor "
    "is moved") {
  // Only the output of stage `a` is offloaded. It is saved once, and loaded once for the backward pass of `b`.
  const Run run(250, block, true);
  const Tape tape =
      tape_of(run.chain(), {Fate::offload, Fate::keep, Fate::keep, Fate::keep, Fate::keep});
  std::vector<std::uint32_t> moved;
  for (const TapeOp& op : tape)
    if (op.kind == TapeOp::Kind::save || op.kind == TapeOp::Kind::load) moved.push_back(op.number);
  CHECK(moved == std::vector<std::uint32_t>{0, 1, 1, 0});
}

TEST_CASE("branches: a tape needs at most the bytes and seconds of its point in the frontier",
          "[property]") {
  test::Dice dice(1107);
  int branching = 0;
  for (int k = 0; k < test::cases_of(60); ++k) {
    const std::vector<Drawn> layers = random_layers(dice, 3 + dice.below(8));
    const Run run(1 + static_cast<int>(dice.below(100)), layers, false);
    INFO(run.text() << "case " << k);
    branching += run.chain().branches();
    const Frontier frontier(joint_chain(run.chain()));
    for (std::size_t i = 0; i < frontier.points().size(); ++i) {
      const Tape tape = separate(run.chain(), frontier.tape(i));
      CHECK(memory_of(run.chain(), tape).peak <= frontier.points()[i].peak);
      CHECK(serial_seconds(run.chain(), tape) <= frontier.points()[i].seconds * (1 + 1e-9));
    }
  }
  CHECK(branching > 30);
}

/// Compares `optimal` with an exhaustive search of all schedules, in random networks with random budgets. No schedule
/// may be faster than the bound that `optimal` reports. If weights take turns, `turns_overlap` says whether copies
/// overlap.
void compare(std::uint64_t seed, int cases, std::size_t least, std::size_t most,
             const std::string& policy = "resident", bool turns_overlap = false) {
  const bool turns = policy != "resident";
  test::Dice dice(seed);
  int branching = 0, faster = 0, as_fast = 0;
  double worst = 0, gaps = 0;
  for (int k = 0; k < cases; ++k) {
    const std::size_t count = least + dice.below(most - least + 1);
    const bool overlap = turns ? turns_overlap : !dice.one_in(3);
    std::vector<Drawn> layers = random_layers(dice, count);
    for (Drawn& layer : layers)
      if (turns) layer.parameters = 1 + static_cast<int>(dice.below(50));
    const Run run(1 + static_cast<int>(dice.below(100)), layers, overlap, policy);
    branching += run.chain().branches();
    const auto [low, high] = run.peaks();
    const std::int64_t budget = low + (high - low) * static_cast<std::int64_t>(dice.below(9)) / 8;
    INFO(run.text() << "budget " << budget << ", case " << k);
    double optimal = never, gap = 0;
    try {
      const Plan plan = run.plan("optimal", budget);
      optimal = replay(plan).makespan;
      for (const Fact& fact : plan.facts)
        if (fact.name == "gap") gap = std::get<Fact::Number>(fact.value).value;
    } catch (const Infeasible&) {
      FAIL("optimal refuses a budget within which a strategy that treats every stage alike fits");
    }
    const test::BruteForce best = run.brute_force(budget, optimal * (1 - 1e-9));
    // The search finds a schedule that is as fast as that of `optimal`, unless `optimal` runs a stage three times.
    if (turns && !overlap && best.seconds == never)
      as_fast += run.brute_force(budget, optimal * (1 + 1e-9)).seconds < never;
    const double bound = optimal * (1 - gap);
    gaps += gap;
    if (best.seconds == never) continue;
    ++faster;
    worst = std::max(worst, 1 - best.seconds / optimal);
    CHECK(best.seconds >= bound * (1 - 1e-9));
  }
  CAPTURE(branching, faster, as_fast, worst, gaps / cases);
  CHECK(branching > cases / 4);
  if (turns && !turns_overlap) CHECK(faster + as_fast > cases * 9 / 10);
  // `optimal` leaves out some schedules. Only rarely is one of these faster than the answer of `optimal`. If weights take
  // turns, the exhaustive search finds none that is faster.
  CHECK(faster <= (turns ? 0 : most <= 4 ? cases / 100 : 1 + cases / 20));
  CHECK(worst <= 0.05);
}

TEST_CASE(
    "branches: in networks of up to 4 operations, optimal is close to the fastest of all schedules",
    "[property]") {
  compare(1101, test::cases_of(60), 2, 4);
}

TEST_CASE("branches: in networks of 5 operations, optimal is close to the fastest of all schedules",
          "[property]") {
  compare(1105, test::cases_of(4), 5, 5);
}

TEST_CASE(
    "branches: if weights take turns, optimal is close to the fastest of all schedules without overlap",
    "[property]") {
  compare(1108, test::cases_of(300), 2, 4, "streamed");
}

TEST_CASE(
    "branches: if weights take turns, optimal is close to the fastest of all schedules with overlap",
    "[property]") {
  compare(1109, test::cases_of(100), 2, 3, "streamed", true);
}

}  // namespace
}  // namespace sluice
