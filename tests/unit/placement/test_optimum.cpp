#include "base/never.hpp"
#include "placement/optimum.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "placement/listing.hpp"
#include "support/campaign.hpp"
#include "support/random_placement.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Moves = PlacementProblem::Moves;

/// Returns the seconds of the fastest placement without moves. There are 2^n such placements: each of the n tensors is
/// in fast or in slow memory.
double enumerated(const PlacementQuestion& question, std::int64_t capacity) {
  double best = never;
  const std::uint32_t n = question.tensor_count();
  for (std::uint64_t set = 0; set < std::uint64_t{1} << n; ++set) {
    std::vector<std::int64_t> bytes(question.kernel_count(), 0);
    bool fits = true;
    for (std::uint32_t t = 0; t < n; ++t)
      for (std::uint32_t k = question.live(t).first; k < question.live(t).last; ++k)
        if ((set >> t & 1U) != 0) fits = (bytes[k] += question.tensor(t).bytes) <= capacity && fits;
    if (!fits) continue;
    double seconds = 0;
    for (const auto& kernel : question.problem().kernels) {
      std::vector<char> slow;
      for (const auto& operand : kernel.operands) slow.push_back((set >> operand.tensor & 1U) == 0);
      seconds += kernel.time.at(slow);
    }
    best = std::min(best, seconds);
  }
  return best;
}

/// Finds the optimum by a dynamic programme. Before each kernel, every tensor is in slow memory, in fast memory, or in
/// both. Any tensor may be moved between any two kernels.
class Exact {
 public:
  Exact(const PlacementQuestion& question, std::int64_t capacity)
      : question_(question), capacity_(capacity), n_(question.tensor_count()) {
    for (std::uint32_t t = 0, power = 1; t < n_; ++t, power *= 3) power_.push_back(power);
    states_ = 3 * power_.back();
  }

  double best() const {
    double best = never;
    for (std::uint32_t start = 0; start < states_; ++start) {
      if (!may_start(start)) continue;
      std::vector<double> costs(states_, never);
      costs[start] = 0;
      for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
        move(costs, k, start);
        run(costs, k);
      }
      move(costs, question_.kernel_count(), start);
      for (std::uint32_t state = 0; state < states_; ++state)
        if (ends_as(state, start)) best = std::min(best, costs[state]);
    }
    return best;
  }

 private:
  enum { slow, both, fast };
  std::uint32_t digit(std::uint32_t state, std::uint32_t t) const { return state / power_[t] % 3; }

  bool may_start(std::uint32_t state) const {
    for (std::uint32_t t = 0; t < n_; ++t) {
      const std::uint32_t at = digit(state, t);
      if (question_.tensor(t).begins == Begins::made && at != slow) return false;
    }
    return true;
  }
  bool ends_as(std::uint32_t state, std::uint32_t start) const {
    for (std::uint32_t t = 0; t < n_; ++t)
      if (question_.tensor(t).begins == Begins::stays && digit(state, t) != digit(start, t))
        return false;
    return true;
  }
  bool alive(std::uint32_t t, std::uint32_t k) const {
    const KernelRange live = question_.live(t);
    return k >= live.first && k < live.last;
  }

  /// Returns whether a tensor that begins in the state `start` may move.
  bool may_move(std::uint32_t t, std::uint32_t start) const {
    const Moves moves = question_.tensor(t).moves;
    const bool waits = question_.tensor(t).begins == Begins::made || digit(start, t) == slow;
    return moves == Moves::free || (moves == Moves::from_slow && waits);
  }

  void move(std::vector<double>& costs, std::uint32_t k, std::uint32_t start) const {
    for (std::uint32_t t = 0; t < n_; ++t) {
      const double fetch = question_.fetch_s(t), save = question_.save_s(t);
      const bool there = k > 0 ? alive(t, k - 1) : question_.tensor(t).begins != Begins::made;
      for (std::uint32_t state = 0; state < states_; ++state) {
        if (digit(state, t) != slow) continue;
        double& in_slow = costs[state];
        double& in_both = costs[state + power_[t]];
        double& in_fast = costs[state + 2 * power_[t]];
        if (!there) continue;
        // A tensor that no later kernel uses takes no room in fast memory.
        if (!alive(t, k) && k < question_.kernel_count()) {
          in_slow = std::min({in_slow, in_both, in_fast});
          in_both = in_fast = never;
          continue;
        }
        if (!may_move(t, start)) continue;
        in_both = std::min(in_both, in_fast + save);
        in_slow = std::min(in_slow, in_both);
        in_both = std::min(in_both, in_slow + fetch);
      }
    }
  }

  void run(std::vector<double>& costs, std::uint32_t k) const {
    const PlacementProblem::Kernel& kernel = question_.problem().kernels[k];
    std::vector<double> after(states_, never);
    for (std::uint32_t state = 0; state < states_; ++state) {
      if (costs[state] == never) continue;
      std::vector<std::uint32_t> makes;
      for (const auto& operand : kernel.operands)
        if (question_.tensor(operand.tensor).begins == Begins::made &&
            question_.uses(operand.tensor).kernels.front() == k)
          makes.push_back(operand.tensor);
      for (std::uint32_t set = 0; set < 1U << makes.size(); ++set) {
        std::uint32_t now = state;
        for (std::size_t m = 0; m < makes.size(); ++m)
          if ((set >> m & 1U) != 0) now += 2 * power_[makes[m]];
        take(after, kernel, now, costs[state]);
      }
    }
    costs = std::move(after);
  }

  void take(std::vector<double>& after, const PlacementProblem::Kernel& kernel, std::uint32_t state,
            double cost) const {
    const auto k = static_cast<std::uint32_t>(&kernel - question_.problem().kernels.data());
    std::int64_t bytes = 0;
    for (std::uint32_t t = 0; t < n_; ++t)
      if (alive(t, k) && digit(state, t) != slow) bytes += question_.tensor(t).bytes;
    if (bytes > capacity_) return;
    std::vector<char> in_slow;
    std::uint32_t then = state;
    for (const auto& operand : kernel.operands) {
      in_slow.push_back(digit(state, operand.tensor) == slow);
      if (operand.written && digit(state, operand.tensor) == both) then += power_[operand.tensor];
    }
    after[then] = std::min(after[then], cost + kernel.time.at(in_slow));
  }

  const PlacementQuestion& question_;
  std::int64_t capacity_;
  std::uint32_t n_, states_;
  std::vector<std::uint32_t> power_;
};

std::int64_t some_capacity(test::Dice& dice, const PlacementQuestion& question) {
  return static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(question.peak()) + 2));
}

void check_replay(const PlacementQuestion& question, const PlacementSchedule& schedule,
                  std::int64_t capacity) {
  const double predicted = predicted_seconds(question, schedule);
  CHECK(simulated_seconds(question, schedule, capacity) == Approx(predicted).epsilon(1e-9));
  for (const std::int64_t bytes : fast_bytes(question, schedule)) CHECK(bytes <= capacity);
}

/// Runs optimum() without branch and bound, and checks its result. `best` is the true optimum. It must be at least the
/// bound and at most the seconds that optimum() returns.
void check_claims(OptimumRequest request, double best) {
  request.nodes = 0;
  for (const std::size_t largest : {request.largest_relaxed, std::size_t{0}}) {
    request.largest_relaxed = largest;
    const Optimum claimed = optimum(request);
    CHECK(claimed.bound <= best * (1 + 1e-9));
    CHECK(claimed.seconds >= best * (1 - 1e-9));
  }
}

/// Returns `problem` with all its seconds multiplied by `unit`.
PlacementProblem in_units(PlacementProblem problem, double unit) {
  for (PlacementProblem::Kernel& kernel : problem.kernels) {
    for (double& seconds : kernel.time.table) seconds *= unit;
    for (KernelTime::Line& line : kernel.time.lines) {
      line.base *= unit;
      for (double& extra : line.extra) extra *= unit;
    }
  }
  problem.synchronous = {problem.synchronous.to_fast / unit, problem.synchronous.to_slow / unit};
  return problem;
}

TEST_CASE(
    "the static optimum equals the best of all placements, and the plan of the optimum "
    "takes the seconds of the optimum",
    "[placement][property]") {
  test::Dice dice(2020);
  for (int n = 0; n < test::cases_of(300); ++n) {
    INFO("case " << n);
    const PlacementQuestion question(test::random_placement(
        dice, {.tensors = 2 + dice.below(11), .kernels = 2 + dice.below(14), .users = 5}));
    const std::int64_t capacity = some_capacity(dice, question);
    const Optimum found = optimum({.question = question, .capacity = capacity, .moves = false});
    REQUIRE(found.proven);
    const double best = enumerated(question, capacity);
    CHECK(found.seconds == Approx(best).epsilon(1e-9));
    check_claims({.question = question, .capacity = capacity, .moves = false}, best);
    CHECK(found.bound == Approx(found.seconds).epsilon(1e-8));
    check_replay(question, synchronous_schedule(question, found.placing), capacity);
  }
}

TEST_CASE(
    "the synchronous optimum equals the optimum of a dynamic programme over all states of all tensors",
    "[placement][property]") {
  test::Dice dice(2021), restricts(2022);
  for (int n = 0; n < test::cases_of(120); ++n) {
    INFO("case " << n);
    PlacementProblem problem = test::random_placement(
        dice, {.tensors = 2 + dice.below(7), .kernels = 2 + dice.below(11), .users = 6});
    // In every other case, moves have set-up times, some tensors do not move, and some move only if they begin in slow
    // memory.
    if (n % 2 == 1) {
      const auto setup_s = [&] { return static_cast<double>(restricts.below(4)) / 4; };
      problem.synchronous.fetch_setup_s = setup_s(), problem.synchronous.save_setup_s = setup_s();
      if (problem.asynchronous) problem.asynchronous->fetch_setup_s = setup_s();
      for (PlacementProblem::Tensor& tensor : problem.tensors)
        tensor.moves = std::array{Moves::free, Moves::from_slow, Moves::none}[restricts.below(3)];
    }
    const PlacementQuestion question(problem);
    const std::int64_t capacity = some_capacity(dice, question);
    const Optimum found = optimum({.question = question, .capacity = capacity});
    REQUIRE(found.proven);
    const double best = Exact(question, capacity).best();
    CHECK(found.seconds == Approx(best).epsilon(1e-9));
    check_claims({.question = question, .capacity = capacity}, best);
    check_replay(question, synchronous_schedule(question, found.placing), capacity);
    // A placement without moves is a schedule, too, so the bounds of both searches with moves hold for it.
    const OptimumRequest few{.question = question, .capacity = capacity, .tries = 0, .nodes = 0};
    const double still = enumerated(question, capacity);
    const OverlappedOptimum beside = overlapped_optimum(few);
    CHECK(optimum(few).bound <= still * (1 + 1e-9));
    CHECK(beside.bound <= std::min(still, best) * (1 + 1e-9));
    check_replay(question, beside.schedule, capacity);
  }
}

TEST_CASE("a tensor waits in slow memory if the copy engine can move it while kernels run",
          "[placement]") {
  // Each of five kernels takes 1 s, and 10 s more for each operand in slow memory. Kernels 0 and 4 use tensor a,
  // kernels 1 and 3 use tensor c, and kernel 2 makes tensor b. Fast memory has room for two of the three tensors. Moves
  // take 1 s for 6 bytes. If tensor c makes room for tensor b, it is moved just before and just after kernel 2. Fast
  // memory then has no room for it while a kernel runs, so kernels wait 10 / 6 s. The copy engine can save tensor a
  // during kernel 1 and fetch it during kernel 3, which takes no time.
  PlacementProblem problem;
  problem.tensors = {
      {.name = "a", .bytes = 6}, {.name = "b", .bytes = 5}, {.name = "c", .bytes = 5}};
  for (const std::uint32_t t : {0, 2, 1, 2, 0}) {
    PlacementProblem::Kernel kernel{.name = "k" + std::to_string(problem.kernels.size())};
    kernel.operands = {{.tensor = t, .written = problem.kernels.size() < 3}};
    kernel.time.lines = {{1, {10}}};
    problem.kernels.push_back(std::move(kernel));
  }
  problem.synchronous = problem.cache = {6, 6};
  problem.asynchronous = PlacementProblem::Rates{6, 6};
  const PlacementQuestion question(problem);
  const Optimum moving = optimum({.question = question, .capacity = 11});
  CHECK(moving.seconds == Approx(5 + 10.0 / 6));
  const OverlappedOptimum beside =
      overlapped_optimum({.question = question, .capacity = 11, .known = {moving.placing}});
  CHECK(beside.seconds == Approx(5));
  CHECK(beside.schedule.moves.size() == 2);
  check_replay(question, beside.schedule, 11);
}

TEST_CASE(
    "the copy engine makes one move after the other, and a tensor stays until its save has ended",
    "[placement]") {
  // The first two kernels make the tensors a and b. The last two kernels use them again. In between, kernel 2 takes 4 s
  // and leaves fast memory as it is. Then kernel 3 needs all of fast memory. A save takes 2 s, so the engine saves both
  // tensors during kernel 2, and fetches both during kernel 4, which also takes 4 s.
  PlacementProblem problem;
  problem.tensors = {
      {.name = "a", .bytes = 4}, {.name = "b", .bytes = 4}, {.name = "large", .bytes = 8}};
  const auto add = [&](double seconds, std::vector<PlacementProblem::Operand> operands) {
    PlacementProblem::Kernel kernel{.name = "k" + std::to_string(problem.kernels.size())};
    kernel.time.lines = {{seconds, std::vector<double>(operands.size(), 100.0)}};
    kernel.operands = std::move(operands);
    problem.kernels.push_back(std::move(kernel));
  };
  add(0.5, {{.tensor = 0, .written = true}});
  add(0.5, {{.tensor = 1, .written = true}});
  add(4, {});
  add(1, {{.tensor = 2, .written = true}});
  add(4, {});
  add(1, {{.tensor = 0}});
  add(1, {{.tensor = 1}});
  problem.synchronous = problem.cache = {2, 2};
  problem.asynchronous = PlacementProblem::Rates{2, 2};
  const PlacementQuestion question(problem);
  const OverlappedOptimum beside = overlapped_optimum({.question = question, .capacity = 8});
  CHECK(beside.seconds == Approx(12));
  CHECK(beside.schedule.moves.size() == 4);
  check_replay(question, beside.schedule, 8);
}

TEST_CASE("the optimum is as exact if kernels take nanoseconds or years as if they take seconds",
          "[placement][property]") {
  test::Dice dice(2023);
  for (int n = 0; n < test::cases_of(20); ++n) {
    INFO("case " << n);
    const PlacementProblem problem =
        test::random_placement(dice, {.tensors = 6 + dice.below(6), .kernels = 8, .users = 5});
    const PlacementQuestion question(problem);
    const std::int64_t capacity = some_capacity(dice, question);
    for (const bool moves : {false, true}) {
      const double best =
          optimum({.question = question, .capacity = capacity, .moves = moves}).seconds;
      for (const double unit : {1e-9, 1e8}) {
        const PlacementQuestion same(in_units(problem, unit));
        const Optimum found = optimum({.question = same, .capacity = capacity, .moves = moves});
        CHECK(found.proven);
        CHECK(found.seconds / unit == Approx(best).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("for a deep network, the gap is below 1 % without branch and bound",
          "[placement][property]") {
  test::Dice dice(2024);
  for (int n = 0; n < test::cases_of(4); ++n) {
    INFO("case " << n);
    const PlacementQuestion question(test::layered_placement(dice, 100, 200));
    const std::int64_t capacity = question.peak() * (20 + 20 * (n % 4)) / 100;
    for (const bool moves : {false, true}) {
      const Optimum found =
          optimum({.question = question, .capacity = capacity, .moves = moves, .nodes = 0});
      CHECK(found.seconds <= 1.01 * found.bound);
      check_replay(question, synchronous_schedule(question, found.placing), capacity);
    }
  }
}

TEST_CASE(
    "a way that may do more is never slower than a way that may do less, and no bound is above a result",
    "[placement][property]") {
  test::Dice dice(2022);
  for (int n = 0; n < test::cases_of(15); ++n) {
    INFO("case " << n);
    const PlacementQuestion question(
        test::random_placement(dice, {.tensors = 3 + dice.below(20), .kernels = 30, .users = 8}));
    const std::int64_t capacity = some_capacity(dice, question);
    const Optimum still =
        optimum({.question = question, .capacity = capacity, .moves = false, .nodes = 0});
    const Optimum moving =
        optimum({.question = question, .capacity = capacity, .known = {still.placing}, .nodes = 0});
    const OverlappedOptimum beside =
        overlapped_optimum({.question = question, .capacity = capacity, .known = {moving.placing}});
    CHECK(moving.seconds <= still.seconds);
    CHECK(beside.seconds <= moving.seconds);
    CHECK(still.bound <= still.seconds);
    CHECK(moving.bound <= moving.seconds);
    CHECK(beside.bound <= beside.seconds);
    CHECK(beside.round_bound <= beside.seconds * (1 + 1e-9));
    check_replay(question, beside.schedule, capacity);
    // The function `useless` says that every placement is useless, so the search ends after its first programme. This
    // programme counts the seconds of kernels, and without a copy engine also the seconds of synchronous moves.
    std::vector<double> asked;
    overlapped_optimum({.question = question,
                        .capacity = capacity,
                        .known = {moving.placing},
                        .useless = [&](double round_s) {
                          asked.push_back(round_s);
                          return true;
                        }});
    REQUIRE(asked.size() == 1);
    CHECK(asked.front() <= beside.round_bound);
  }
}

}  // namespace
}  // namespace sluice
