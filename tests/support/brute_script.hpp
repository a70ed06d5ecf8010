// The computations of a training step, for the exhaustive search of brute_fates.hpp: which stages run again, and where each
// tensor that a backward pass reads comes from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
  /// For each device, whether the output leaves it after the last forward pass, and is loaded again later.
  std::vector<bool> output_leaves = {};
};

/// A computation on a device, with the tensors that it reads and makes. `loads` has the tensors that are loaded before
/// it, and `saves` has the tensors that are saved after it. Each load makes a new tensor.
struct Step {
  double seconds = 0;
  std::int64_t workspace = 0;
  std::uint32_t device = 0;
  std::vector<std::uint32_t> reads = {}, makes = {}, saves = {}, loads = {};
};

/// A tensor on a device. If two devices have a tensor, each of them has one of its own.
struct Made {
  std::int64_t bytes = 0;
  double save_s = 0, load_s = 0;
  std::uint32_t copy_of = no_tensor;  ///< for a loaded tensor, the tensor that was saved
  std::uint32_t device = 0;
};

/// The computations of a training step in order. The constructor derives them from the `Ways` of all stages. Device s mod
/// n computes stage s, if there are n devices. A tensor goes from one device to another through host memory.
class Script {
 public:
  /// `on` has the chain with the prices of each device. Weights that take turns are tensors of the script. With
  /// `overlap`, so are the gradients of weights. Without `overlap`, the first load of such weights takes no time.
  /// `weights_last` says whether a step loads its weights after its other tensors.
  Script(const std::vector<Chain>& on, const std::vector<Ways>& ways, bool input_again,
         bool overlap, bool weights_last)
      : on_(on),
        ways_(ways),
        overlap_(overlap),
        weights_last_(weights_last),
        n_(on.front().stages.size()),
        boundary_(n_ + 1, Tensor(on.size())),
        gradient_(n_ + 1, Tensor(on.size())),
        inner_(n_, Tensor(on.size())) {
    go_to(0);
    boundary_[0].home = true;
    for (std::size_t s = 0; s < n_; ++s) forward(s, false);
    if (input_again && chain().input.bytes > 0)
      for (std::uint32_t d = 0; d < on_.size(); ++d) leave(boundary_[0], d);
    for (std::size_t s = 0; s < n_; ++s) {
      for (std::uint32_t d = 0; d < on_.size(); ++d)
        if (!ways[s].output_leaves.empty() && ways[s].output_leaves[d]) leave(boundary_[s + 1], d);
      if (ways[s].inner == Ways::host) leave(inner_[s], device(s));
    }
    for (std::size_t s = n_; s-- > 0;) {
      for (std::size_t again = 0; again < n_; ++again)
        if (ways_[again].second_run == static_cast<int>(s)) forward(again, true);
      backward(s);
    }
    for (const auto* all : {&boundary_, &inner_})
      for (const Tensor& tensor : *all)
        for (const Instance& instance : tensor.on)
          if (instance.left) useful_ = false;  // it left the device, and was never loaded
  }

  bool useful() const { return useful_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Made>& tensors() const { return tensors_; }
  std::size_t devices() const { return on_.size(); }

  double computed() const {
    double seconds = 0;
    for (const Step& step : steps_) seconds += step.seconds;
    return seconds;
  }
  double loaded() const { return sum(&Step::loads, &Made::load_s, {}); }
  double saved() const { return sum(&Step::saves, &Made::save_s, {}); }
  /// Returns the seconds of all loads of one device, or of all saves.
  double loaded_on(std::uint32_t device) const { return sum(&Step::loads, &Made::load_s, device); }
  double saved_on(std::uint32_t device) const { return sum(&Step::saves, &Made::save_s, device); }
  /// Returns the seconds of the loads before the first step.
  double first_loaded() const {
    double seconds = 0;
    for (const std::uint32_t t : steps_.front().loads) seconds += tensors_[t].load_s;
    return seconds;
  }
  /// Returns whether steps load weights during computations.
  bool loads_weights() const { return overlap_ && weights_; }
  /// Without overlap, returns the seconds of all copies of gradients of weights that take turns.
  double turns() const { return turns_s_; }

  /// Returns the largest number of bytes that the device holds in any step. Each tensor is freed after the last step that
  /// uses it.
  std::int64_t peak(std::uint32_t device) const {
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
      std::int64_t bytes = steps_[i].device == device ? steps_[i].workspace : 0;
      for (std::size_t t = 0; t < tensors_.size(); ++t)
        if (tensors_[t].device == device && first[t] <= i && i <= last[t])
          bytes += tensors_[t].bytes;
      most = std::max(most, bytes);
    }
    return most;
  }

 private:
  /// A tensor on one device, and the step that wrote it. `left` says that it left the device and is loaded again.
  struct Instance {
    std::uint32_t tensor = no_tensor;
    std::size_t written = 0;
    bool left = false;
  };
  /// Where a tensor is now: on devices, in host memory (as the copy of a tensor that was saved), or both.
  struct Tensor {
    explicit Tensor(std::size_t devices) : on(devices) {}
    std::vector<Instance> on;
    std::uint32_t copy = no_tensor;
    bool home = false;  ///< whether host memory has it from the start
  };

  double sum(std::vector<std::uint32_t> Step::*list, double Made::*seconds,
             std::optional<std::uint32_t> device) const {
    double all = 0;
    for (const Step& step : steps_)
      for (const std::uint32_t t : step.*list)
        if (!device || tensors_[t].device == *device) all += tensors_[t].*seconds;
    return all;
  }

  std::uint32_t device(std::size_t stage) const {
    return static_cast<std::uint32_t>(stage % on_.size());
  }
  /// Returns the chain with the prices of the current step's device.
  const Chain& chain() const { return on_[step_.device]; }
  void go_to(std::size_t stage) { step_.device = device(stage); }

  std::uint32_t add(const ChainTensor& tensor, std::uint32_t copy_of = no_tensor) {
    tensors_.push_back({tensor.bytes, tensor.save_s, tensor.load_s, copy_of, step_.device});
    return static_cast<std::uint32_t>(tensors_.size() - 1);
  }

  void end_step(std::size_t stage) {
    if (weights_ && weights_of_ == stage) step_.reads.push_back(*weights_);
    if (weights_last_ && loads_weights_now_)
      std::rotate(step_.loads.begin(), step_.loads.begin() + 1, step_.loads.end());
    loads_weights_now_ = false;
    steps_.push_back(std::move(step_));
    step_ = {};
  }

  /// Makes the current step write the tensor, which is then on the step's device.
  void make(Tensor& tensor, const ChainTensor& of) {
    const std::uint32_t made = add(of);
    step_.makes.push_back(made);
    Instance& here = tensor.on[step_.device];
    // A script is useless if a tensor leaves a device, and is then made again instead of loaded.
    if (here.left) useful_ = false;
    here = {made, steps_.size()};
  }

  /// Saves the tensor after the step that wrote it, unless host memory has it.
  void save(Tensor& tensor) {
    if (tensor.home || tensor.copy != no_tensor) return;
    for (const Instance& instance : tensor.on) {
      if (instance.tensor == no_tensor) continue;
      tensor.copy = instance.tensor;
      if (tensors_[instance.tensor].bytes > 0)
        steps_[instance.written].saves.push_back(instance.tensor);
      return;
    }
    useful_ = false;
  }

  void leave(Tensor& tensor, std::uint32_t device) {
    if (tensor.on[device].tensor == no_tensor) return;
    save(tensor);
    tensor.on[device] = {.left = true};
  }

  /// Lets the current step read a tensor. If it is not on the step's device, the step loads it. It then stays there.
  void read(Tensor& tensor, const ChainTensor& of) {
    Instance& here = tensor.on[step_.device];
    if (here.tensor == no_tensor) {
      save(tensor);
      if (!useful_) return;
      here = {add(of, tensor.copy), steps_.size()};
      if (of.bytes > 0) step_.loads.push_back(here.tensor);
    }
    step_.reads.push_back(here.tensor);
  }

  /// If the weights of stages take turns, loads the weights of a stage, unless they are on the device.
  void bring_weights(std::size_t s) {
    const ChainTurn& turn = chain().stages[s].turn;
    if (turn.bytes == 0 || weights_of_ == s) return;
    weights_ = add({turn.bytes, 0, overlap_ || weights_of_ ? turn.load_s : 0});
    step_.loads.push_back(*weights_);
    loads_weights_now_ = true;
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
    go_to(s);
    const ChainStage& stage = chain().stages[s];
    bring_weights(s);
    chain().each_read(s, [&](std::size_t b, bool) { read(boundary_[b], chain().boundary(b)); });
    step_.seconds = stage.forward_s;
    make(boundary_[s + 1], stage.output);
    const bool keeps = again == (ways_[s].inner == Ways::second);
    if (keeps && stage.inner.bytes > 0) make(inner_[s], stage.inner);
    step_.workspace = stage.forward_workspace(keeps) - stage.turn.bytes;
    end_step(s);
  }

  void backward(std::size_t s) {
    go_to(s);
    const ChainStage& stage = chain().stages[s];
    bring_weights(s);
    if (stage.inner.bytes > 0) read(inner_[s], stage.inner);
    if (stage.reads_output) read(boundary_[s + 1], stage.output);
    if (s + 1 < n_) read(gradient_[s + 1], gradient(s + 1));
    chain().each_read(s, [&](std::size_t b, bool backward) {
      if (backward) read(boundary_[b], chain().boundary(b));
      if (b > 0) add_gradient(b);
    });
    step_.seconds = stage.backward_s;
    step_.workspace = stage.backward_workspace - stage.turn.bytes;
    save_gradients(stage.turn);
    end_step(s);
  }

  /// Returns the gradient of boundary b. It may have no bytes, because no earlier stage learns.
  ChainTensor gradient(std::size_t b) const {
    return chain().stages[b - 1].gradient > 0 ? chain().boundary(b) : ChainTensor();
  }

  /// Lets the current step make the gradient of boundary b, or add to it. Then only the step's device has it.
  void add_gradient(std::size_t b) {
    Tensor& all = gradient_[b];
    const bool is_made = std::ranges::any_of(
        all.on, [](const Instance& instance) { return instance.tensor != no_tensor; });
    if (!is_made) return make(all, gradient(b));
    read(all, gradient(b));
    if (!useful_) return;
    const Instance here = {all.on[step_.device].tensor, steps_.size()};
    all = Tensor(on_.size());
    all.on[step_.device] = here;
  }

  const std::vector<Chain>& on_;
  const std::vector<Ways>& ways_;
  bool overlap_, weights_last_;
  std::size_t n_;
  std::vector<Tensor> boundary_, gradient_, inner_;
  std::optional<std::size_t> weights_of_;  ///< the stage whose weights are on the device
  std::optional<std::uint32_t> weights_;   ///< these weights
  bool loads_weights_now_ = false;         ///< whether the current step loads weights
  double turns_s_ = 0;
  bool useful_ = true;
  std::vector<Made> tensors_;
  std::vector<Step> steps_;
  Step step_;
};

}  // namespace sluice::test
