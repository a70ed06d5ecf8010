#include "support/exact_chain.hpp"

#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace sluice::test {
namespace {

/// A state between two passes: the outputs and the inner tensors on the device, as sets of stages, and the number of
/// backward passes that are done. The search is Dijkstra's algorithm over these states.
class States {
 public:
  States(const Chain& chain, std::int64_t budget)
      : chain_(chain),
        budget_(budget),
        count_(chain.stages.size()),
        sets_(std::size_t{1} << count_),
        least_((count_ + 1) * sets_ * sets_, std::numeric_limits<double>::infinity()) {}

  double least() {
    reach({0, 0, 0}, 0);
    while (!turns_.empty()) {
      const auto [seconds, number] = turns_.top();
      turns_.pop();
      if (seconds > least_[number]) continue;
      const State state = state_of(number);
      if (state.done == count_) return seconds;
      drop(state, seconds);
      for (std::size_t s = 0; s + state.done < count_; ++s) forward(state, seconds, s);
      backward(state, seconds);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  struct State {
    std::size_t outputs = 0, inner = 0, done = 0;
  };
  static bool has(std::size_t set, std::size_t stage) { return set >> stage & 1; }
  static std::size_t with(std::size_t set, std::size_t stage) {
    return set | std::size_t{1} << stage;
  }
  static std::size_t without(std::size_t set, std::size_t stage) {
    return set & ~(std::size_t{1} << stage);
  }

  std::size_t number_of(const State& state) const {
    return (state.done * sets_ + state.outputs) * sets_ + state.inner;
  }
  State state_of(std::size_t number) const {
    return {number / sets_ % sets_, number % sets_, number / sets_ / sets_};
  }

  void reach(const State& state, double seconds) {
    double& least = least_[number_of(state)];
    if (seconds >= least) return;
    least = seconds;
    turns_.emplace(seconds, number_of(state));
  }

  /// Returns the bytes of all tensors in the state, with the gradient that the last backward pass has made.
  std::int64_t bytes(const State& state) const {
    std::int64_t sum = state.done > 0 ? chain_.stages[count_ - state.done - 1].gradient : 0;
    for (std::size_t s = 0; s < count_; ++s) {
      if (has(state.outputs, s)) sum += chain_.stages[s].output.bytes;
      if (has(state.inner, s)) sum += chain_.stages[s].inner.bytes;
    }
    return sum;
  }

  void drop(const State& state, double seconds) {
    for (std::size_t s = 0; s < count_; ++s) {
      reach({without(state.outputs, s), state.inner, state.done}, seconds);
      reach({state.outputs, without(state.inner, s), state.done}, seconds);
    }
  }

  bool has_input(const State& state, std::size_t s) const {
    return s == 0 || has(state.outputs, s - 1);
  }

  void forward(const State& state, double seconds, std::size_t s) {
    if (!has_input(state, s)) return;
    for (const bool keeps : {false, true}) {
      const State after{with(state.outputs, s), keeps ? with(state.inner, s) : state.inner,
                        state.done};
      if (bytes(after) <= budget_) reach(after, seconds + chain_.stages[s].forward_s);
    }
  }

  void backward(const State& state, double seconds) {
    const std::size_t s = count_ - state.done - 1;
    const ChainStage& stage = chain_.stages[s];
    if (!has_input(state, s) || (stage.inner.bytes > 0 && !has(state.inner, s))) return;
    if (stage.reads_output && !has(state.outputs, s)) return;
    const std::int64_t made = s > 0 ? chain_.stages[s - 1].gradient : 0;
    if (bytes(state) + made > budget_) return;
    reach({state.outputs, without(state.inner, s), state.done + 1}, seconds + stage.backward_s);
  }

  using Turn = std::pair<double, std::size_t>;  // the seconds so far, and the number of a state
  const Chain& chain_;
  std::int64_t budget_;
  std::size_t count_, sets_;
  std::vector<double> least_;  ///< indexed by number of the state: the least seconds so far
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
};

}  // namespace

double least_seconds_without_copies(const Chain& chain, std::int64_t budget) {
  return States(chain, budget).least();
}

}  // namespace sluice::test
