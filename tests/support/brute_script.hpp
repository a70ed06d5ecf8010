// The computations of a training step, for the exhaustive search of brute_fates.hpp: which stages run again, and where each
// tensor that a backward pass reads comes from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fates/chain.hpp"

namespace sluice::test {

inline constexpr std::uint32_t no_tensor = static_cast<std::uint32_t>(-1);

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

}  // namespace sluice::test
