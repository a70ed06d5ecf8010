// Tests `optimal` with weights that take turns, on one or two devices. `optimal` is compared with the strategies that
// treat every stage alike. Also, many tapes are executed. No tape may be faster than the bound that `optimal` reports.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "fates/optimal/frontier.hpp"
#include "fates/optimal/rounding.hpp"
#include "fates/optimal/tape_descent.hpp"
#include "planning/training/training.hpp"
#include "planning/training/worst_moment.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

std::vector<std::string> alike() {
  std::vector<std::string> names;
  for (const FateStrategy* strategy : fate_catalog().entries())
    if (strategy->compared) names.push_back(strategy->name);
  return names;
}

/// Puts a link that all devices share between host memory and their own links.
std::string with_shared_link(std::string text) {
  const std::string own = "joins: [host, gpu";
  const std::size_t links = text.find("links: {"), begin = text.find("}", text.find(own));
  const std::size_t first = text.find("bandwidth", links);
  const std::string bus = "bus: {joins: [host, hub], " + text.substr(first, begin - first) + "}, ";
  for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos; at += own.size())
    text.replace(at, own.size(), "joins: [hub, gpu");
  text.insert(text.find("links: {") + 8, bus);
  return text.insert(text.find("links: {"), "switches: [hub]\n  ");
}

class Run {
 public:
  Run(test::Dice& dice, const std::string& policy, bool shared_link = false)
      : policy_(policy),
        devices_(policy == "phased" ? 1 + dice.below(2) : 1),
        text_(test::random_training(dice, policy, devices_)) {
    if (shared_link) text_ = with_shared_link(text_);
  }

  std::size_t devices() const { return devices_; }
  const std::string& text() const { return text_; }

  Scenario scenario(const std::string& strategy, std::int64_t capacity) const {
    Value document = parse_text(text_ + "fates: {strategy: " + strategy + "}\n", "random.yaml");
    for (std::size_t d = 0; d < devices_; ++d)
      apply_overrides(document, {"platform.devices.gpu" + std::to_string(d) +
                                 ".memory.capacity=" + std::to_string(capacity) + "B"});
    return read_scenario(std::move(document), "random");
  }

  /// Returns the seconds of the run, or infinity if the run does not fit.
  double seconds(const std::string& strategy, std::int64_t capacity) const {
    try {
      return replay(make_plan(scenario(strategy, capacity))).makespan;
    } catch (const Infeasible&) {
      return never;
    }
  }

 private:
  std::string policy_;
  std::size_t devices_;
  std::string text_;
};

/// Returns a random capacity of the device's memory. The logarithm of the capacity is uniformly distributed. The
/// capacity is at least the peak of the strategy that needs the fewest bytes, and at most 1.1 times the peak of a run
/// in which all micro-batches keep all tensors.
std::int64_t some_capacity(test::Dice& dice, const Run& run);

void compare(const std::string& policy, std::uint64_t seed, int cases) {
  test::Dice dice(seed);
  int compared = 0, faster = 0;
  for (int k = 0; k < cases; ++k) {
    const Run run(dice, policy);
    const std::int64_t capacity = some_capacity(dice, run);
    double best = never;
    for (const std::string& strategy : alike())
      best = std::min(best, run.seconds(strategy, capacity));
    const double optimal = run.seconds("optimal", capacity);
    INFO(run.text() << "capacity " << capacity << ": " << optimal / best - 1);
    CHECK((optimal == best || optimal <= best * (1 + 1e-9)));
    compared += best < never;
    faster += optimal < best * (1 - 1e-9);
  }
  CAPTURE(compared, faster);
  CHECK(compared > cases / 2);
  CHECK(faster > cases / 20);
}

TEST_CASE("optimal, streamed, is never slower than any strategy that treats every stage alike",
          "[property]") {
  compare("streamed", 1101, test::cases_of(30, 60));
}

TEST_CASE("optimal, phased, is never slower than any strategy that treats every stage alike",
          "[property]") {
  compare("phased", 1102, test::cases_of(20, 60));
}

/// The parts of a run that the search of `optimal` reads. The member functions return the seconds and the peak of a
/// tape, and bounds for a budget.
struct FateQuestion {
  Scenario scenario;
  CutModel cut;
  PolicyRequest request;
  TrainingOrder order;
  Chain chain;
  std::vector<StageState> states;

  explicit FateQuestion(const Run& run)
      : FateQuestion(run.scenario("keep_all", std::int64_t{1} << 50)) {}

  explicit FateQuestion(Scenario asked)
      : scenario(std::move(asked)),
        cut(cut_model(scenario)),
        request{{cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform,
                 *scenario.cost, scenario.workload.dtype, &*scenario.workload.training},
                scenario.workload},
        order{"streamed", false, {}, {}, scenario.policy.keys.reader().boolean("overlap")},
        chain(chain_of(request, scenario.platform.devices.front(), {.overlap = order.overlap})),
        states(states_of(request, scenario.platform.devices.front(), {.overlap = order.overlap})) {
    for (const Device& device : scenario.platform.devices) order.devices.push_back(device.name);
    if (shape_of(request, order, 1).equal_memories) chain.devices = order.devices.size();
  }

  /// Lets random tensors of stages stay on the device.
  void let_stay(test::Dice& dice) {
    order.staying.clear();
    for (StageState& state : states)
      order.staying.push_back(state.stays = test::random_staying(dice));
  }

  std::int64_t per_batch() const { return scenario.workload.batch / scenario.workload.micro_batch; }

  double seconds(const Tape& tape, std::int64_t in_flight, std::int64_t each) const {
    const StepShape shape{chain,
                          tape,
                          states,
                          per_batch(),
                          scenario.workload.batches_per_step,
                          in_flight,
                          false,
                          scenario.workload.training->split_backward,
                          static_cast<std::uint32_t>(order.devices.size())};
    return score({request, shape, order, each}).seconds;
  }

  std::int64_t peak(const Tape& tape, std::int64_t in_flight) const {
    const StepShape shape{chain,       tape,  states,
                          per_batch(), 1,     in_flight,
                          false,       false, static_cast<std::uint32_t>(order.devices.size())};
    const Program step = make_step(shape);
    std::int64_t most = 0;
    for (std::uint32_t d = 0; d < shape.devices; ++d) most = std::max(most, step.peak(d));
    return most;
  }

  /// Returns the greater of the two bounds that `optimal` has for a number of micro-batches in flight. One is for a run
  /// within a budget. The other holds for any budget: no run is faster than the clock of a run that keeps all tensors.
  double bound(std::int64_t in_flight, std::int64_t each) const {
    PolicyRequest kept = request;
    kept.fates = kept_fates();
    kept.capacity_enforced = false;
    TrainingOrder settled = order;
    settled.in_flight = in_flight;
    return std::max(bound_within(in_flight, each), ChosenStep(kept, settled).at_least());
  }

  double bound_within(std::int64_t in_flight, std::int64_t each) const {
    const auto devices = static_cast<std::int64_t>(order.devices.size());
    const SideBySide all =
        side_by_side(chain, states, scenario.workload, shape_of(request, order, in_flight));
    const std::int64_t budget =
        Constants{states, false, order.devices.size()}.leave_of(each * devices, all.chain.devices);
    if (order.overlap) return run_bound_within(all.chain, all.run, budget);
    return all.run.micro_batches * fate_bound(all.chain, budget, Copies::serial) +
           all.run.batches * all.run.update_s + all.run.idle_s();
  }
};

std::int64_t some_capacity(test::Dice& dice, const Run& run) {
  const FateQuestion question(run);
  const std::vector<Tape> tapes = alike_tapes(question.chain);
  std::int64_t least = question.peak(tapes.front(), 1);
  for (const Tape& tape : tapes) least = std::min(least, question.peak(tape, 1));
  const std::int64_t most = question.peak(tapes.front(), question.per_batch());
  const double part = static_cast<double>(dice.below(1000)) / 1000;
  return static_cast<std::int64_t>(
             static_cast<double>(least) *
             std::pow(1.1 * static_cast<double>(most) / static_cast<double>(least), part)) +
         1;
}

TEST_CASE("the bytes of a tape are at most those of its run if weights take turns", "[property]") {
  test::Dice dice(1105);
  int exact = 0, compared = 0, equal = 0;
  for (int k = 0; k < test::cases_of(200); ++k) {
    const Run run(dice, k % 2 == 0 ? "streamed" : "phased");
    FateQuestion question(run);
    if (k % 4 >= 2) question.let_stay(dice);
    if (weights_stay(question.request, question.order)) continue;
    const auto in_flight =
        static_cast<std::int64_t>(1 + dice.below(static_cast<std::uint64_t>(question.per_batch())));
    const Chain chain = side_by_side(question.chain, question.states, question.scenario.workload,
                                     shape_of(question.request, question.order, in_flight))
                            .chain;
    // Several passes or an update may need more bytes. Weights stay on the device from one pass to the next.
    const bool is_exact = in_flight == question.per_batch() &&
                          std::ranges::none_of(question.states, &StageState::updates);
    const Constants stay{question.states, false, chain.devices};
    for (int i = 0; i < 6; ++i) {
      const Tape tape = tape_of(chain, test::fates_number(dice.next(), chain.stages.size()));
      const std::int64_t bytes = memory_of(chain, tape).peak,
                         needed = static_cast<std::int64_t>(chain.devices) *
                                  (question.peak(tape, in_flight) - stay.least());
      INFO(run.text() << in_flight << " in flight");
      CHECK(bytes <= needed);
      if (is_exact) CHECK(bytes == needed);
      exact += is_exact;
      equal += bytes == needed;
      ++compared;
    }
  }
  CAPTURE(exact, equal, compared);
  CHECK(exact > compared / 20);
  CHECK(equal > compared / 2);
}

TEST_CASE("the seconds of a tape are those of its run if devices take turns without overlap",
          "[property]") {
  test::Dice dice(1107);
  int compared = 0, runs = 0, equal = 0;
  for (int k = 0; k < test::cases_of(200); ++k) {
    const Run run(dice, "phased");
    FateQuestion question(run);
    if (question.order.overlap || question.order.devices.size() == 1) continue;
    if (k % 2 == 1) question.let_stay(dice);
    const SideBySide all = side_by_side(question.chain, question.states, question.scenario.workload,
                                        shape_of(question.request, question.order, 1));
    const Tape kept = alike_tapes(all.chain).front();
    const auto run_seconds = [&](const Tape& tape) {
      return question.seconds(tape, 1, question.peak(tape, 1));
    };
    // The seconds that do not depend on the tape are usually exact. They are never too great, because a bound has them,
    // too.
    const double kept_s = all.run.micro_batches * serial_seconds(all.chain, kept) +
                          all.run.batches * all.run.update_s + all.run.idle_s();
    CHECK(run_seconds(kept) >= kept_s * (1 - 1e-9));
    equal += run_seconds(kept) <= kept_s * (1 + 1e-9);
    ++runs;
    for (int i = 0; i < 6; ++i) {
      const Tape tape =
          tape_of(all.chain, test::fates_number(dice.next(), all.chain.stages.size()));
      const double run_s = run_seconds(tape) - run_seconds(kept);
      const double tape_s = all.run.micro_batches *
                            (serial_seconds(all.chain, tape) - serial_seconds(all.chain, kept));
      INFO(run.text());
      CHECK(run_s == Approx(tape_s).epsilon(1e-9).margin(1e-9 * run_seconds(kept)));
      ++compared;
    }
  }
  CHECK(compared > 100);
  CHECK(equal > runs / 2);
}

TEST_CASE("more memory never makes optimal slower if weights take turns", "[property]") {
  test::Dice dice(1103);
  const int cases = test::cases_of(16);
  int faster = 0;
  for (int k = 0; k < cases; ++k) {
    const Run run(dice, k % 2 == 0 ? "streamed" : "phased");
    // If `in_flight` is given, or if a batch is one micro-batch, the plan uses the whole memory of the device. Then a
    // plan for more memory may have another order of loads, and this order may take longer. So these two cases are left
    // out.
    if (run.text().find("in_flight") != std::string::npos || FateQuestion(run).per_batch() == 1)
      continue;
    std::vector<std::int64_t> capacities;
    for (int step = 0; step < 6; ++step) capacities.push_back(some_capacity(dice, run));
    std::sort(capacities.begin(), capacities.end());
    double before = never;
    for (const std::int64_t capacity : capacities) {
      const double now = run.seconds("optimal", capacity);
      INFO(run.text() << "capacity " << capacity << ": " << now / before - 1);
      CHECK((now == before || now <= before * (1 + 1e-9)));
      faster += now < before * (1 - 1e-9);
      before = now;
    }
    CHECK(before < never);
  }
  CHECK(faster > cases / 4);
}

/// Returns a tape in which each tensor has a fate of its own. The output of the last stage may be offloaded, too.
Tape random_tape(test::Dice& dice, const Chain& chain) {
  const std::size_t n = chain.stages.size();
  Choices choices{test::fates_number(dice.next(), n), test::fates_number(dice.next(), n + 1)};
  if (dice.one_in(2)) choices.boundary.back() = Fate::offload;
  keep_what_nobody_makes(choices);
  return tape_of(chain, choices);
}

/// Compares random executions with the bound. With `some_stay`, the weights of some stages stay on their devices.
void compare_with_bound(std::uint64_t seed, bool some_stay) {
  test::Dice dice(seed);
  const int cases = test::cases_of(60);
  int executed = 0;
  double closest = never;
  for (int k = 0; k < cases; ++k) {
    const bool streamed = k % 2 == 0;
    const Run run(dice, streamed ? "streamed" : "phased", k % 4 == 3);
    FateQuestion question(run);
    if (some_stay) question.let_stay(dice);
    const std::size_t stages = question.chain.stages.size();
    // If there is a single stage on a single device, its weights stay on this device, and no weights take turns.
    if (stages == 1 && run.devices() == 1) continue;
    const Frontier frontier(question.chain);
    std::vector<Tape> tapes = alike_tapes(question.chain);
    for (int i = 0; i < 6; ++i)
      tapes.push_back(tape_of(question.chain, test::fates_number(dice.next(), stages)));
    for (int i = 0; i < 3; ++i) {
      tapes.push_back(frontier.tape(dice.below(frontier.points().size())));
      tapes.push_back(random_tape(dice, question.chain));
      const std::int64_t bytes = memory_of(question.chain, tapes.back()).peak;
      tapes.push_back(improved_tape(question.chain, bytes, tapes.back()));
    }
    for (const Tape& tape : tapes) {
      const auto in_flight = static_cast<std::int64_t>(
          1 + dice.below(static_cast<std::uint64_t>(question.per_batch())));
      const std::int64_t peak = question.peak(tape, in_flight);
      for (const std::int64_t room : {peak, peak + peak / 4}) {
        const double seconds = question.seconds(tape, in_flight, room);
        if (seconds == never) continue;
        const double bound = question.bound(in_flight, room);
        INFO(run.text() << in_flight << " in flight within " << room);
        CHECK(seconds >= bound * (1 - 1e-9));
        closest = std::min(closest, seconds / bound);
        ++executed;
      }
    }
  }
  CAPTURE(executed, closest);
  CHECK(closest < 1.01);  // some run takes less than 1 % longer than its bound
  CHECK(executed > 10 * cases);
}

TEST_CASE("no execution is faster than the bound of optimal if weights take turns", "[property]") {
  compare_with_bound(1104, false);
}

TEST_CASE("no execution is faster than the bound of optimal if some weights stay", "[property]") {
  compare_with_bound(1106, true);
}

}  // namespace
}  // namespace sluice
