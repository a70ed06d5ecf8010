#include "planning/placement/kernels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/quantity.hpp"
#include "cost/operands.hpp"
#include "model/catalog.hpp"
#include "model/kept.hpp"
#include "planning/placement/on_their_way.hpp"
#include "planning/placement/placed_time.hpp"
#include "planning/placement/update_query.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

class Builder {
 public:
  Builder(const PlacedWork& work, const TwoMemories& memories)
      : work_(work),
        model_(work.pricing.model),
        memories_(memories),
        samples_(work.workload.micro_batch),
        dtype_(work.pricing.dtype) {}

  PlacedKernels build() {
    const auto count = static_cast<std::uint32_t>(model_.layers.size());
    for (micro_batch_ = 0; micro_batch_ < work_.micro_batches; ++micro_batch_) {
      if (work_.micro_batches > 1) suffix_ = " of micro-batch " + std::to_string(micro_batch_);
      lives_.assign(2 * count, {});
      if (work_.tape)
        run(*work_.tape);
      else
        keep_all({0, count - 1});
    }
    micro_batch_ = -1;
    if (work_.pricing.training)
      for (std::uint32_t l = 0; l < count; ++l) update(l);
    problem_.name = work_.name;
    problem_.device = memories_.device->name;
    problem_.fast = memories_.fast;
    problem_.slow = memories_.slow;
    problem_.slow_capacity = memories_.slow_capacity;
    problem_.synchronous = memories_.synchronous;
    problem_.asynchronous = memories_.asynchronous;
    problem_.cache = memories_.cache;
    return {std::move(problem_), std::move(kernels_), std::move(copy_of_)};
  }

 private:
  /// A kernel that is being made. `kernel` lists each tensor once, even if several operands use it. For operand o of
  /// the query, `tensor_of[o]` is the index of its tensor in `kernel`.
  struct Draft {
    PlacementProblem::Kernel kernel;
    std::vector<std::size_t> tensor_of;
  };
  enum class Use : bool { read, written };  ///< how a kernel uses an operand

  std::uint32_t tensor(const std::string& name, TensorClass tensor_class, std::int64_t bytes,
                       Begins begins = Begins::made) {
    const auto [found, fresh] =
        tensors_.try_emplace(name, static_cast<std::uint32_t>(problem_.tensors.size()));
    if (fresh) problem_.tensors.push_back({name, tensor_class, bytes, begins});
    copy_of_.resize(problem_.tensors.size(), none);
    return found->second;
  }

  std::int64_t bytes(std::int64_t elements) const {
    return checked_mul(checked_mul(elements, bytes_of(dtype_), "bytes"), samples_,
                       "bytes of a micro-batch");
  }

  /// How often the output or the kept tensor of a layer has been made, and whether it is only in host memory now.
  ActivationLife& life_of_output(std::uint32_t l) {
    return lives_[2 * std::size_t{origin_of(model_, l)}];
  }
  ActivationLife& life_of_kept(std::uint32_t l) { return lives_[2 * std::size_t{l} + 1]; }

  std::uint32_t output_of(std::uint32_t l) {
    const Layer& layer = model_.layers[origin_of(model_, l)];
    const bool input = layer.inputs.empty();
    return arrived(life_of_output(l), [&](const ActivationLife& life) {
      return tensor(layer.name + suffix_ + life.name(),
                    input ? TensorClass::input : TensorClass::activation, bytes(layer.output),
                    input ? Begins::given : Begins::made);
    });
  }
  std::uint32_t kept_of(std::uint32_t l) {
    const Layer& layer = model_.layers[l];
    return arrived(life_of_kept(l), [&](const ActivationLife& life) {
      return tensor("kept of " + layer.name + suffix_ + life.name(), TensorClass::activation,
                    checked_add(bytes(layer.backward.kept),
                                checked_mul(layer.backward.kept_bytes, samples_, "kept bytes"),
                                "kept bytes of a micro-batch"));
    });
  }

  /// Returns the tensor of an activation for the next kernel. If the activation is only in host memory, it gets a new
  /// tensor, which is loaded while the previous kernel computes.
  template <class Tensor>
  std::uint32_t arrived(ActivationLife& life, const Tensor& tensor_in) {
    if (!life.away) return tensor_in(life);
    life.begin_again();
    const std::uint32_t t = tensor_in(life), next = problem_.kernel_count();
    copy_of_[t] = life.saved;
    std::vector<std::uint32_t>& saves = kernels_[life.saved_after].saves;
    if (std::find(saves.begin(), saves.end(), life.saved) == saves.end()) {
      saves.push_back(life.saved);
      if (life.saved_after + 1 < next) pass_through(life.saved_after + 1, {.tensor = life.saved});
    }
    if (next >= life.saved_after + 2 && pass_through(next - 1, {.tensor = t, .written = true}))
      kernels_[next - 1].fetches.push_back(t);
    else
      fetches_.push_back(t);
    return t;
  }

  bool pass_through(std::uint32_t k, const PlacementProblem::Operand& one) {
    const std::size_t operands = problem_.kernels[k].operands.size();
    if (!add_passing(problem_.kernels[k], one)) return false;
    if (problem_.kernels[k].operands.size() > operands) kernels_[k].passing.push_back(one.tensor);
    return true;
  }

  struct Layers {
    std::uint32_t first = 0, last = 0;
  };
  void forward_pass(Layers layers, ActionKind kind, bool keeps) {
    for (std::uint32_t l = layers.first; l <= layers.last; ++l)
      if (does_work(model_.layers[l], Pass::forward))
        forward(l, kind, keeps && !drops(model_.layers[l]));
  }
  void backward_pass(Layers layers) {
    for (std::uint32_t l = layers.last + 1; l-- > layers.first;) {
      if (!does_work(model_.layers[l], Pass::backward)) continue;
      if (drops(model_.layers[l])) forward(l, ActionKind::recompute, /*keeps_inner=*/true);
      backward(l);
    }
  }

  void keep_all(Layers layers) {
    forward_pass(layers, ActionKind::forward, /*keeps=*/true);
    if (!work_.pricing.training) return;
    loss();
    backward_pass(layers);
  }

  /// Adds the kernels of a tape. A tensor lives from the operation that makes or loads it to its last use on the tape.
  void run(const Tape& tape) {
    std::vector<char> ran(work_.pricing.stages.size(), 0);
    bool forwards = true;
    for (const TapeOp& op : tape) switch (op.kind) {
        case TapeOp::Kind::forward:
          forward_pass(
              layers_of(op.number),
              std::exchange(ran[op.number], 1) ? ActionKind::recompute : ActionKind::forward,
              op.inner);
          break;
        case TapeOp::Kind::backward:
          if (std::exchange(forwards, false)) loss();
          backward_pass(layers_of(op.number));
          break;
        case TapeOp::Kind::save:
          for (const MovedTensor& one : moved_by(op)) save(one);
          break;
        case TapeOp::Kind::load:
          for (const MovedTensor& one : moved_by(op)) one.life->away = one.life->saved != none;
          break;
      }
  }

  Layers layers_of(std::uint32_t s) const {
    return {work_.pricing.stages[s].first, work_.pricing.stages[s].last};
  }

  /// An activation that a save or a load of the tape moves.
  struct MovedTensor {
    ActivationLife* life = nullptr;
    std::uint32_t layer = none;
    bool kept = false;  ///< whether this is the tensor that the layer keeps, and not its output
  };
  /// Returns the activations that a save or a load moves. A boundary consists of the outputs that the previous stage
  /// makes and a later stage reads. The inner tensors of a stage are the tensors that its layers keep, and the outputs
  /// that no later stage reads.
  std::vector<MovedTensor> moved_by(const TapeOp& op) {
    std::vector<MovedTensor> moved;
    const std::vector<Stage>& stages = work_.pricing.stages;
    // A tape moves neither the input, which is in host memory, nor the answer, which no layer reads.
    if (!op.inner && (op.number == 0 || op.number == stages.size())) return moved;
    const auto [first, last] = layers_of(op.inner ? op.number : op.number - 1);
    for (std::uint32_t l = first; l <= last; ++l) {
      const Layer& layer = model_.layers[l];
      const bool made = origin_of(model_, l) == l && !layer.inputs.empty();
      if (made && crosses(l, last + 1) != op.inner) moved.push_back({&life_of_output(l), l});
      if (op.inner && keeps(layer))
        moved.push_back({.life = &life_of_kept(l), .layer = l, .kept = true});
    }
    return moved;
  }
  bool crosses(std::uint32_t l, std::uint32_t boundary) {
    if (last_readers_.empty()) last_readers_ = last_readers(model_);
    return last_readers_[l] >= boundary;
  }
  void save(const MovedTensor& one) {
    if (!one.life->made || one.life->saved != none) return;
    one.life->saved = one.kept ? kept_of(one.layer) : output_of(one.layer);
    one.life->saved_after = problem_.kernel_count() - 1;
  }
  std::uint32_t gradient_of(std::uint32_t l) {
    const Layer& layer = model_.layers[origin_of(model_, l)];
    return tensor("gradient of " + layer.name + suffix_, TensorClass::gradient,
                  bytes(layer.output));
  }
  const Layer& owner(const Layer& layer) const {
    return layer.tied ? model_.layers[*layer.tied] : layer;
  }
  std::int64_t weight_bytes_of(const Layer& layer) const {
    return (layer.parameters + layer.shared) * static_cast<std::int64_t>(bytes_of(dtype_));
  }
  std::uint32_t weights_of(const Layer& layer) {
    return tensor("weights of " + owner(layer).name, TensorClass::weight,
                  weight_bytes_of(owner(layer).parameters > 0 ? owner(layer) : layer),
                  Begins::stays);
  }
  std::uint32_t weight_gradient_of(const Layer& layer) {
    return tensor("gradient of the weights of " + owner(layer).name, TensorClass::gradient,
                  work_.pricing.training->gradient_bytes(weight_bytes_of(owner(layer))));
  }
  bool keeps(const Layer& layer) const {
    const bool any = layer.backward.kept > 0 || layer.backward.kept_bytes > 0;
    return any && work_.pricing.training && layer.backward.runs;
  }
  /// Returns whether selective recomputation drops the tensor that the layer keeps.
  bool drops(const Layer& layer) const {
    return work_.selective && layer.backward.selective && keeps(layer);
  }

  void add(Draft& draft, std::uint32_t t, const Operand* operand, Use use) const {
    const bool written = use == Use::written || std::ranges::count(fetches_, t) > 0;
    auto& operands = draft.kernel.operands;
    const auto at = std::ranges::find(operands, t, &PlacementProblem::Operand::tensor);
    const auto place = static_cast<std::size_t>(at - operands.begin());
    if (at == operands.end()) operands.push_back({.tensor = t});
    operands[place].written |= written;
    if (!operand) return;
    operands[place].read_bytes += operand->read;
    operands[place].written_bytes += operand->written;
    draft.tensor_of.push_back(place);
  }

  /// Returns the time of a kernel: the time with all operands in fast memory, plus an extra time for each operand in
  /// slow memory. In the extra time, the kernel reads and writes the operand's bytes at the rates `in_place`.
  KernelTime time_in_place(const Draft& draft, const Query& query) const {
    KernelTime::Line line{work_.pricing.cost.of(query).seconds, {}};
    for (const PlacementProblem::Operand& operand : draft.kernel.operands)
      line.extra.push_back(operand.read_bytes / memories_.in_place->to_fast +
                           operand.written_bytes / memories_.in_place->to_slow);
    return {.lines = {std::move(line)}};
  }

  void finish(Draft draft, const Query& query, ActionKind kind, std::uint32_t l) {
    draft.kernel.time = memories_.in_place
                            ? time_in_place(draft, query)
                            : placed_time(work_.pricing, memories_, query, draft.tensor_of,
                                          draft.kernel.operands.size());
    problem_.kernels.push_back(std::move(draft.kernel));
    kernels_.push_back({kind,
                        l,
                        micro_batch_,
                        query,
                        std::move(draft.tensor_of),
                        {},
                        std::exchange(fetches_, {})});
  }

  Query query_for(const Layer& layer, Pass pass) const {
    Query query = query_of(model_, layer, pass, samples_, dtype_, *memories_.device);
    query.operands = operands_of(model_, layer, pass, samples_, dtype_);
    return query;
  }

  static bool has_weights(const Layer& layer) { return layer.parameters > 0 || layer.shared > 0; }

  /// Adds the forward pass of a layer. The kernel gets its operands in the order in which operands_of() lists them.
  /// With `keeps_inner`, the layer keeps a tensor for its backward pass.
  void forward(std::uint32_t l, ActionKind kind, bool keeps_inner) {
    const Layer& layer = model_.layers[l];
    const Query query = query_for(layer, Pass::forward);
    Draft draft{{.name = layer.name + (kind == ActionKind::recompute ? " again" : "")}, {}};
    std::size_t next = 0;
    const auto take = [&](std::uint32_t t, Use use) {
      add(draft, t, &query.operands.at(next++), use);
    };
    if (!reads_nothing(layer))
      for (const std::uint32_t input : layer.inputs) take(output_of(input), Use::read);
    if (has_weights(layer)) take(weights_of(layer), Use::read);
    if (layer.cached > 0)
      take(tensor("cache of " + layer.name + suffix_, TensorClass::kv_cache, bytes(layer.cached),
                  Begins::stays),
           Use::read);
    if (origin_of(model_, l) == l) life_of_output(l).begin_again();
    take(output_of(l), Use::written);
    if (keeps_inner && keeps(layer)) {
      life_of_kept(l).begin_again();
      // The kept tensor is no operand of the query: the price of the forward pass does not count its bytes.
      add(draft, kept_of(l), nullptr, Use::written);
    }
    finish(std::move(draft), query, kind, l);
  }

  bool writes_gradients(const Layer& layer) const {
    return !reads_nothing(layer) && !(layer.macs > 0 && layer.backward.input_flop == 0);
  }

  /// Adds the kernel "loss", which takes no time. It makes the gradients that backward passes read but do not make.
  void loss() {
    std::set<std::uint32_t> made;
    Draft draft{{.name = "loss"}, {}};
    for (auto l = static_cast<std::uint32_t>(model_.layers.size()); l-- > 0;) {
      const Layer& layer = model_.layers[l];
      if (!does_work(layer, Pass::backward)) continue;
      const std::uint32_t origin = origin_of(model_, l);
      if (made.insert(origin).second) {
        add(draft, output_of(l), nullptr, Use::read);
        add(draft, gradient_of(l), nullptr, Use::written);
      }
      if (writes_gradients(layer))
        for (const std::uint32_t input : layer.inputs) made.insert(origin_of(model_, input));
    }
    draft.kernel.time.lines = {{0, std::vector<double>(draft.kernel.operands.size(), 0)}};
    problem_.kernels.push_back(std::move(draft.kernel));
    kernels_.push_back({.kind = ActionKind::backward,
                        .micro_batch = micro_batch_,
                        .fetches = std::exchange(fetches_, {})});
  }

  void backward(std::uint32_t l) {
    const Layer& layer = model_.layers[l];
    const Query query = query_for(layer, Pass::backward);
    Draft draft{{.name = layer.name + " backward"}, {}};
    std::size_t next = 0;
    const auto take = [&](std::uint32_t t, Use use) {
      add(draft, t, &query.operands.at(next++), use);
    };
    const bool reads = !reads_nothing(layer);
    if (layer.backward.reads_inputs && reads)
      for (const std::uint32_t input : layer.inputs) take(output_of(input), Use::read);
    if (has_weights(layer)) take(weights_of(layer), Use::read);
    if (layer.backward.reads_output) take(output_of(l), Use::read);
    take(gradient_of(l), Use::read);
    if (layer.backward.kept > 0 || layer.backward.kept_bytes > 0) take(kept_of(l), Use::read);
    if (writes_gradients(layer))
      for (const std::uint32_t input : layer.inputs) take(gradient_of(input), Use::written);
    if (has_weights(layer)) take(weight_gradient_of(layer), Use::written);
    finish(std::move(draft), query, ActionKind::backward, l);
  }

  void update(std::uint32_t l) {
    const Layer& layer = model_.layers[l];
    const Training& training = *work_.pricing.training;
    if (layer.parameters == 0 || !layer.backward.runs || !training.optimizer->updates) return;
    const std::int64_t weights = weight_bytes_of(layer), state = training.optimizer_bytes(weights);
    const Query query =
        update_query({layer.name, layer.parameters, weights}, training, dtype_, *memories_.device);
    Draft draft{{.name = layer.name + " update"}, {}};
    add(draft, weights_of(layer), &query.operands[0], Use::written);
    add(draft, weight_gradient_of(layer), &query.operands[1], Use::read);
    if (state > 0)
      add(draft, tensor("state of " + layer.name, TensorClass::optimizer, state, Begins::stays),
          &query.operands[2], Use::written);
    finish(std::move(draft), query, ActionKind::update, l);
  }

  const PlacedWork& work_;
  const Model& model_;
  const TwoMemories& memories_;
  std::int64_t samples_;
  DType dtype_;
  std::int64_t micro_batch_ = 0;
  std::string suffix_;  ///< a suffix that distinguishes the tensors of different micro-batches
  PlacementProblem problem_;
  std::vector<PlacedKernel> kernels_;
  std::map<std::string, std::uint32_t> tensors_;
  std::vector<std::uint32_t> copy_of_;
  std::vector<ActivationLife> lives_;   ///< of the present micro-batch, two lives per layer
  std::vector<std::uint32_t> fetches_;  ///< the `fetches` of the kernel that is being made
  std::vector<std::uint32_t> last_readers_;
};

}  // namespace

PlacedKernels placed_kernels(const PlacedWork& work, const TwoMemories& memories) {
  return Builder(work, memories).build();
}

}  // namespace sluice
