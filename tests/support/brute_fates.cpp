#include "support/brute_fates.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "support/oracle.hpp"

namespace sluice::test {

namespace {

constexpr std::uint32_t no_tensor = static_cast<std::uint32_t>(-1);
constexpr std::int64_t unlimited = std::int64_t{1} << 50;

/// How one stage provides the tensors that backward passes read.
struct Ways {
  /// The forward pass of this stage runs again before the backward pass of stage `second_run`. -1 if it runs only once.
  int second_run = -1;
  /// Where the backward pass gets the stage's inner tensors: from the first forward run, the second, or host memory.
  enum { first, host, second } inner = first;
  bool output_to_host = false;
};

/// A computation, with the tensors that it reads and makes. `loads` has the tensors that are loaded before it, and
/// `saves` has the tensors that are saved after it. Each load makes a new tensor.
struct Step {
  double seconds = 0;
  std::int64_t workspace = 0;
  std::vector<std::uint32_t> reads, makes, saves, loads;
};

struct Made {
  std::int64_t bytes = 0;
  double save_s = 0, load_s = 0;
  std::uint32_t copy_of = no_tensor;  ///< for a loaded tensor, the tensor that was saved
};

/// The computations of a training step in order. The constructor derives them from the `Ways` of all stages.
class Script {
 public:
  /// With `overlap`, weights that take turns are tensors of the script, and so are the gradients of weights. `weights_last`
  /// says whether a step loads its weights after its other tensors.
  Script(const Chain& chain, const std::vector<Ways>& ways, bool input_again, bool overlap,
         bool weights_last)
      : chain_(chain),
        ways_(ways),
        overlap_(overlap),
        weights_last_(weights_last),
        n_(chain.stages.size()),
        boundary_(n_ + 1, no_tensor),
        inner_(n_, no_tensor),
        gradient_(n_ + 1, no_tensor),
        in_host_(2 * n_ + 1, no_tensor) {
    step_ = {};
    boundary_[0] = add(chain.input);
    if (chain.input.bytes > 0) step_.loads.push_back(boundary_[0]);
    for (std::size_t s = 0; s < n_; ++s) forward(s, false);
    input_again_ = input_again && chain.input.bytes > 0;
    for (std::size_t s = n_; s-- > 0;) {
      for (std::size_t again = 0; again < n_; ++again)
        if (ways_[again].second_run == static_cast<int>(s)) forward(again, true);
      backward(s);
    }
    for (const std::uint32_t saved : in_host_)
      if (saved != no_tensor) useful_ = false;  // a tensor was saved and never loaded
    if (input_again_) useful_ = false;
  }

  bool useful() const { return useful_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Made>& tensors() const { return tensors_; }

  double computed() const {
    double seconds = 0;
    for (const Step& step : steps_) seconds += step.seconds;
    return seconds;
  }
  double loaded() const { return sum(&Step::loads, &Made::load_s); }
  double saved() const { return sum(&Step::saves, &Made::save_s); }
  /// Returns the seconds of the loads before the first step.
  double first_loaded() const {
    double seconds = 0;
    for (const std::uint32_t t : steps_.front().loads) seconds += tensors_[t].load_s;
    return seconds;
  }
  bool loads_weights() const { return weights_.has_value(); }
  /// Without overlap, returns the seconds of all copies of weights and gradients that take turns.
  double turns() const { return turns_s_; }

  /// Returns the largest number of bytes that any step holds. Each tensor is freed after the last step that uses it.
  std::int64_t peak() const {
    std::vector<std::size_t> first(tensors_.size(), steps_.size()), last(tensors_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const auto* list :
           {&steps_[i].reads, &steps_[i].makes, &steps_[i].saves, &steps_[i].loads})
        for (const std::uint32_t t : *list) {
          first[t] = std::min(first[t], i);
          last[t] = std::max(last[t], i);
        }
    std::int64_t most = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::int64_t bytes = steps_[i].workspace;
      for (std::size_t t = 0; t < tensors_.size(); ++t)
        if (first[t] <= i && i <= last[t]) bytes += tensors_[t].bytes;
      most = std::max(most, bytes);
    }
    return most;
  }

 private:
  double sum(std::vector<std::uint32_t> Step::*list, double Made::*seconds) const {
    double all = 0;
    for (const Step& step : steps_)
      for (const std::uint32_t t : step.*list) all += tensors_[t].*seconds;
    return all;
  }

  std::uint32_t add(const ChainTensor& tensor, std::uint32_t copy_of = no_tensor) {
    tensors_.push_back({tensor.bytes, tensor.save_s, tensor.load_s, copy_of});
    return static_cast<std::uint32_t>(tensors_.size() - 1);
  }

  void end_step() {
    if (weights_) step_.reads.push_back(*weights_);
    if (weights_last_ && loads_weights_now_)
      std::rotate(step_.loads.begin(), step_.loads.begin() + 1, step_.loads.end());
    loads_weights_now_ = false;
    steps_.push_back(std::move(step_));
    step_ = {};
  }

  /// Lets the current step read a tensor. If the tensor is in host memory, the step loads the tensor, which then stays
  /// on the device.
  void read(std::uint32_t& tensor, std::size_t slot, const ChainTensor& of) {
    if (in_host_[slot] != no_tensor) {
      tensor = add(of, in_host_[slot]);
      step_.loads.push_back(tensor);
      in_host_[slot] = no_tensor;
    } else if (slot == 0 && input_again_) {
      tensor = add(of);
      step_.loads.push_back(tensor);
      input_again_ = false;
    }
    if (tensor == no_tensor)
      useful_ = false;
    else
      step_.reads.push_back(tensor);
  }

  /// If the weights of stages take turns, loads the weights of a stage, unless they are on the device.
  void bring_weights(std::size_t s) {
    const ChainTurn& turn = chain_.stages[s].turn;
    if (turn.bytes == 0 || weights_of_ == s) return;
    if (overlap_) {
      weights_ = add({turn.bytes, 0, turn.load_s});
      step_.loads.push_back(*weights_);
      loads_weights_now_ = true;
    } else if (weights_of_) {
      turns_s_ += turn.load_s;
    }
    weights_of_ = s;
  }

  /// Saves the gradients of the stage's weights, which have as many bytes as the weights.
  void save_gradients(const ChainTurn& turn) {
    if (turn.bytes == 0) return;
    if (!overlap_) {
      turns_s_ += turn.backward_load_s + turn.backward_save_s;
      return;
    }
    const std::uint32_t gradients = add({turn.bytes, turn.backward_save_s, 0});
    step_.makes.push_back(gradients);
    step_.saves.push_back(gradients);
    step_.workspace -= turn.bytes;
  }

  void forward(std::size_t s, bool again) {
    const ChainStage& stage = chain_.stages[s];
    const Ways& ways = ways_[s];
    bring_weights(s);
    chain_.each_read(s, [&](std::size_t b, bool) { read(boundary_[b], b, chain_.boundary(b)); });
    step_.seconds = stage.forward_s;
    boundary_[s + 1] = add(stage.output);
    step_.makes.push_back(boundary_[s + 1]);
    const bool keeps = again ? ways.inner == Ways::second : ways.inner != Ways::second;
    if (keeps && stage.inner.bytes > 0) {
      inner_[s] = add(stage.inner);
      step_.makes.push_back(inner_[s]);
      if (ways.inner == Ways::host) save(n_ + 1 + s, inner_[s]);
    }
    step_.workspace = stage.forward_workspace(keeps) - weights_bytes(stage);
    // A script is useless if it saves an output, and then makes the output again instead of loading it.
    if (again && in_host_[s + 1] != no_tensor) useful_ = false;
    if (!again && ways.output_to_host) to_save_ = s + 1;
    end_step();
    if (to_save_) {
      // The output is saved after the pass that makes it. The forward passes after it still read the output on the
      // device. So the output moves to `in_host_` only after the last forward pass.
      steps_.back().saves.push_back(boundary_[s + 1]);
      pending_[s + 1] = boundary_[s + 1];
      to_save_.reset();
    }
    if (!again && s + 1 == n_)
      for (const auto& [slot, tensor] : pending_) in_host_[slot] = tensor;
  }

  void save(std::size_t slot, std::uint32_t tensor) {
    step_.saves.push_back(tensor);
    in_host_[slot] = tensor;
  }

  void backward(std::size_t s) {
    const ChainStage& stage = chain_.stages[s];
    bring_weights(s);
    if (stage.inner.bytes > 0) read(inner_[s], n_ + 1 + s, stage.inner);
    if (stage.reads_output) read(boundary_[s + 1], s + 1, stage.output);
    if (s + 1 < n_) step_.reads.push_back(gradient_[s + 1]);
    chain_.each_read(s, [&](std::size_t b, bool backward) {
      if (backward) read(boundary_[b], b, chain_.boundary(b));
      if (b == 0) return;
      if (gradient_[b] != no_tensor) return step_.reads.push_back(gradient_[b]);
      gradient_[b] = add({chain_.stages[b - 1].gradient, 0, 0});
      step_.makes.push_back(gradient_[b]);
    });
    step_.seconds = stage.backward_s;
    step_.workspace = stage.backward_workspace - weights_bytes(stage);
    save_gradients(stage.turn);
    end_step();
  }

  /// Returns the bytes of weights that are a tensor of their own, and not in the workspace.
  std::int64_t weights_bytes(const ChainStage& stage) const {
    return overlap_ ? stage.turn.bytes : 0;
  }

  const Chain& chain_;
  const std::vector<Ways>& ways_;
  bool overlap_, weights_last_;
  std::size_t n_;
  std::vector<std::uint32_t> boundary_, inner_, gradient_;  ///< the latest instance of each tensor
  /// The saved tensors that are not yet loaded. First come the boundaries, then the inner tensors of the stages.
  std::vector<std::uint32_t> in_host_;
  /// The boundaries that the forward passes have saved. After the last forward pass, they move to `in_host_`.
  std::map<std::size_t, std::uint32_t> pending_;
  std::optional<std::size_t> to_save_;
  std::optional<std::size_t> weights_of_;  ///< the stage whose weights are on the device
  std::optional<std::uint32_t> weights_;   ///< these weights, if they are a tensor of the script
  bool loads_weights_now_ = false;         ///< whether the current step loads weights
  double turns_s_ = 0;
  bool input_again_ = false, useful_ = true;
  std::vector<Made> tensors_;
  std::vector<Step> steps_;
  Step step_;
};

/// Makes a plan from a script. For each load, the caller names the step before which the plan lists the load.
class Listing {
 public:
  Listing(const Script& script, std::int64_t budget, const std::vector<double>& weights_s)
      : script_(script) {
    plan_.pools = {{.name = "gpu", .capacity = budget, .owner = "gpu"}};
    plan_.streams = {{.name = "compute"},
                     {.name = "down", .kind = StreamKind::copy},
                     {.name = "up", .kind = StreamKind::copy}};
    for (const Made& made : script.tensors()) plan_.tensors.push_back({.bytes = made.bytes});
    for (const double seconds : weights_s)
      weights_.push_back(seconds > 0 ? add(ActionKind::load, 1, seconds) : none);
  }

  /// Returns the plan. The loads are numbered in the order in which the steps need them. The plan lists load i before
  /// the step with the index `places[i]`.
  Plan plan(const std::vector<std::size_t>& places) {
    std::vector<std::uint32_t> loads;
    for (const Step& step : script_.steps())
      loads.insert(loads.end(), step.loads.begin(), step.loads.end());
    // `arrives` maps a tensor to the action that loads it, and `saved` maps a tensor to the action that saves it.
    std::map<std::uint32_t, std::uint32_t> arrives, saved;
    std::size_t next = 0;
    for (std::size_t i = 0; i < script_.steps().size(); ++i) {
      for (; next < loads.size() && places[next] <= i; ++next) {
        const Made& made = script_.tensors()[loads[next]];
        const std::uint32_t load = add(ActionKind::load, 1, made.load_s);
        plan_.actions[load].allocates.push_back({loads[next], 0});
        if (made.copy_of != no_tensor) wait(load, saved.at(made.copy_of));
        arrives[loads[next]] = load;
      }
      const Step& step = script_.steps()[i];
      const std::uint32_t run = add(ActionKind::forward, 0, step.seconds);
      // The first steps are the first forward passes of the stages. So step i waits for the weights of stage i.
      if (i < weights_.size() && weights_[i] != none) wait(run, weights_[i]);
      for (const std::uint32_t loaded : step.loads) wait(run, arrives.at(loaded));
      for (const std::uint32_t t : step.makes) {
        plan_.actions[run].allocates.push_back({t, 0});
        use(run, t);
      }
      for (const std::uint32_t t : step.reads) use(run, t);
      if (step.workspace > 0) {
        plan_.tensors.push_back({.bytes = step.workspace});
        const auto space = static_cast<std::uint32_t>(plan_.tensors.size() - 1);
        plan_.actions[run].allocates.push_back({space, 0});
        plan_.actions[run].uses.push_back({space, 0});
      }
      for (const std::uint32_t t : step.saves) {
        saved[t] = add(ActionKind::save, 2, script_.tensors()[t].save_s);
        wait(saved[t], run);
        use(saved[t], t);
      }
    }
    plan_.body_begin = plan_.body_end = count();
    return plan_;
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(plan_.actions.size()); }
  std::uint32_t add(ActionKind kind, std::uint32_t stream, double seconds) {
    Action action;
    action.kind = kind;
    action.stream = stream;
    action.seconds = seconds;
    plan_.actions.push_back(std::move(action));
    return count() - 1;
  }
  void wait(std::uint32_t action, std::uint32_t other) {
    plan_.actions[action].waits.push_back({other, 0});
  }
  void use(std::uint32_t action, std::uint32_t tensor) {
    plan_.actions[action].uses.push_back({tensor, 0});
  }

  const Script& script_;
  /// For each stage, the action that loads its weights. `none` for a stage without weights.
  std::vector<std::uint32_t> weights_;
  Plan plan_;
};

class Everything {
 public:
  Everything(const Chain& chain, std::int64_t budget, const std::vector<double>& weights_s,
             bool overlap, double below)
      : chain_(chain), budget_(budget), weights_s_(weights_s), overlap_(overlap) {
    found_.seconds = below;
    for (const double seconds : weights_s) weights_total_ += seconds;
    ways_.resize(chain.stages.size());
  }

  BruteForce run() {
    const double below = found_.seconds;
    choose(0);
    if (found_.seconds >= below) found_.seconds = std::numeric_limits<double>::infinity();
    return found_;
  }

 private:
  void choose(std::size_t s) {
    const std::size_t n = chain_.stages.size();
    if (s == n) {
      for (const bool input_again : {false, true}) {
        const Script script(chain_, ways_, input_again, overlap_, false);
        consider(script);
        if (script.loads_weights()) consider(Script(chain_, ways_, input_again, overlap_, true));
      }
      return;
    }
    const ChainStage& stage = chain_.stages[s];
    for (int again = static_cast<int>(n) - 1; again >= static_cast<int>(s) - 1; --again) {
      ways_[s].second_run = again >= static_cast<int>(s) ? again : -1;
      for (const auto inner : {Ways::first, Ways::host, Ways::second}) {
        if (inner == Ways::second && ways_[s].second_run < 0) continue;
        if (inner != Ways::first && stage.inner.bytes == 0) continue;
        ways_[s].inner = inner;
        for (const bool to_host : {false, true}) {
          if (to_host && (s + 1 == n || stage.output.bytes == 0)) continue;
          ways_[s].output_to_host = to_host;
          choose(s + 1);
        }
      }
    }
  }

  void consider(const Script& script) {
    if (!script.useful()) return;
    const double computed = script.computed(), loaded = script.loaded(), saved = script.saved();
    if (!overlap_) {
      const double seconds = weights_total_ + computed + loaded + saved + script.turns();
      if (seconds >= found_.seconds || script.peak() > budget_) return;
      ++found_.tapes;
      found_.seconds = seconds;
      return;
    }
    const double least = std::max(
        {weights_total_ + loaded, saved, weights_total_ + script.first_loaded() + computed});
    if (least >= found_.seconds || script.peak() > budget_) return;
    ++found_.tapes;
    place(script);
  }

  /// Executes a plan for each way to place the loads among the steps. The order of the loads does not change.
  void place(const Script& script) {
    std::vector<std::size_t> needed, earliest;
    std::map<std::uint32_t, std::size_t> saved_by;
    for (std::size_t i = 0; i < script.steps().size(); ++i) {
      for (const std::uint32_t t : script.steps()[i].loads) {
        needed.push_back(i);
        const std::uint32_t copy = script.tensors()[t].copy_of;
        earliest.push_back(copy == no_tensor ? 0 : saved_by.at(copy) + 1);
      }
      for (const std::uint32_t t : script.steps()[i].saves) saved_by[t] = i;
    }
    // With unlimited memory, no place is better than an earlier place.
    std::vector<std::size_t> places = earliest;
    for (std::size_t i = 1; i < places.size(); ++i) places[i] = std::max(places[i], places[i - 1]);
    if (seconds(script, unlimited, places) >= found_.seconds) return;
    place(script, needed, earliest, places, 0);
  }

  double seconds(const Script& script, std::int64_t budget,
                 const std::vector<std::size_t>& places) const {
    const OracleResult result = oracle(Listing(script, budget, weights_s_).plan(places));
    return result.blocked ? std::numeric_limits<double>::infinity() : result.makespan;
  }

  /// Tries all places of the loads from `load` on. In `places`, the loads before it have their places, and the others have
  /// the earliest places that are then possible.
  void place(const Script& script, const std::vector<std::size_t>& needed,
             const std::vector<std::size_t>& earliest, const std::vector<std::size_t>& places,
             std::size_t load) {
    if (load == places.size()) {
      ++found_.executed;
      found_.seconds = std::min(found_.seconds, seconds(script, budget_, places));
      return;
    }
    const std::size_t from = std::max(earliest[load], load > 0 ? places[load - 1] : 0);
    for (std::size_t at = needed[load] + 1; at-- > from;) {
      std::vector<std::size_t> next = places;
      for (std::size_t i = load; i < next.size(); ++i) next[i] = std::max(next[i], at);
      if (at > from && seconds(script, unlimited, next) >= found_.seconds) continue;
      place(script, needed, earliest, next, load + 1);
    }
  }

  const Chain& chain_;
  std::int64_t budget_;
  const std::vector<double>& weights_s_;
  bool overlap_;
  double weights_total_ = 0;
  std::vector<Ways> ways_;
  BruteForce found_;
};

}  // namespace

BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below) {
  return Everything(chain, budget, weights_s, overlap, below).run();
}

}  // namespace sluice::test
