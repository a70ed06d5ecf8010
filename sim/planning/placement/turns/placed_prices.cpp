#include "planning/placement/turns/placed_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "cost/operands.hpp"
#include "model/catalog.hpp"
#include "model/kept.hpp"
#include "planning/placed_price.hpp"
#include "planning/placement/on_their_way.hpp"
#include "planning/placement/update_query.hpp"

namespace sluice {
namespace {

bool is_input(const Layer& layer) {
  return layer.inputs.empty();
}

/// Returns whether all kinds of a class are in `slow`, or none of them.
bool classes_are_together(const TensorKinds& all, const TensorKinds& slow) {
  return std::ranges::none_of(slow, [&](const TensorKind& one) {
    return std::ranges::any_of(all, [&](const TensorKind& other) {
      return other.tensor_class == one.tensor_class && slow.count(other) == 0;
    });
  });
}

bool is_forward(Pass pass) {
  return pass == Pass::forward || pass == Pass::recompute;
}

}  // namespace

PlacedPrices::PlacedPrices(const PolicyRequest& request, const std::vector<std::string>& devices,
                           PassedTensors passed)
    : request_(request),
      passed_(passed),
      last_readers_(last_readers(request.pricing.model)),
      kept_(request.pricing.model.layers.size(), 0) {
  for (const std::string& device : devices)
    devices_.push_back(&request.pricing.platform.device(device));
  const Model& model = request.pricing.model;
  if (request.pricing.training) {
    for (const Stage& stage : request.pricing.stages)
      for (const std::uint32_t kept : kept_for(model, stage.first, stage.last).inside)
        kept_[kept] = 1;
    const Stage& first = request.pricing.stages.front();
    for (std::uint32_t l = first.first; l <= first.last; ++l)
      first_computes_ = first_computes_ || !is_input(model.layers[l]);
  }
  find_together();
}

/// Finds the stage to which the activations of each stage belong.
void PlacedPrices::find_together() {
  const Model& model = request_.pricing.model;
  const std::vector<Stage>& stages = request_.pricing.stages;
  for (std::size_t s = 0; s < stages.size(); ++s)
    made_by_.resize(stages[s].last + 1, static_cast<std::int32_t>(s));
  const bool inputs_stay = first_computes_ || passed_.inputs_stay;
  std::int32_t reach =
      0;  // the outputs of earlier stages cross the cuts after all stages before this one
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(stages.size()); ++s) {
    first_together_.push_back(s < reach ? first_together_.back() : s);
    const Stage& stage = stages[static_cast<std::size_t>(s)];
    for (std::uint32_t l = stage.first; l <= stage.last; ++l) {
      const bool is_view = origin_of(model, l) != l;
      if (is_view || (inputs_stay && is_input(model.layers[l]))) continue;
      if (last_readers_[l] > 0)
        reach = std::max(reach, made_by_[last_readers_[l]]);
      else if (passes_answers())
        reach = std::max(reach, made_by_.back());
    }
  }
}

StageQuery PlacedPrices::query_of_stage(const StageWork& work) const {
  return {.kind = work.kind,
          .stage = stage_of(work),
          .device = device_of(work),
          .samples = work.samples,
          .selective = work.selective};
}

const TensorKinds& PlacedPrices::used_by(const StageWork& work) {
  const auto [used, fresh] = used_.try_emplace(work);
  if (!fresh) return used->second;
  const auto use = [&](const std::vector<TensorKind>& kinds) {
    used->second.insert(kinds.begin(), kinds.end());
  };
  if (work.kind == ActionKind::update) use(update_kinds(work));
  for (const LayerPass& one : layer_passes(request_.pricing, query_of_stage(work)))
    use(operand_kinds(one.layer, one.pass, work));
  return used->second;
}

const Price& PlacedPrices::of(const StageWork& work, const TensorKinds& slow) {
  TensorKinds used;
  for (const TensorKind& kind : used_by(work))
    if (slow.count(kind) != 0) used.insert(used.end(), kind);
  const std::pair<StageWork, TensorKinds> asked(work, std::move(used));
  const auto known = known_.find(asked);
  if (known != known_.end()) return known->second;
  return known_.emplace(asked, price(work, slow)).first->second;
}

Price PlacedPrices::price(const StageWork& work, const TensorKinds& slow) const {
  if (work.kind == ActionKind::update) return of_update(work, slow);
  Price price;
  for (const LayerPass& one : layer_passes(request_.pricing, query_of_stage(work)))
    price += one.part(of_pass(one.layer, one.pass, work, slow));
  return price;
}

Price PlacedPrices::of_update(const StageWork& work, const TensorKinds& slow) const {
  const Pricing& pricing = request_.pricing;
  const std::vector<TensorKind> kinds = update_kinds(work);
  if (std::ranges::none_of(kinds, [&](const TensorKind& kind) { return slow.count(kind) != 0; }))
    return price_of(pricing, query_of_stage(work));
  Query query = of_update_query(work);
  for (std::size_t o = 0; o < query.operands.size(); ++o)
    query.operands[o].pool = device_of(work).memories[slow.count(kinds[o])].pool;
  return placed_price(pricing.platform, pricing.cost, query).price;
}

Query PlacedPrices::of_update_query(const StageWork& work) const {
  const Pricing& pricing = request_.pricing;
  const Stage& stage = stage_of(work);
  const auto parameter_bytes = static_cast<std::int64_t>(bytes_of(pricing.dtype));
  return update_query({stage.name, stage.weight_bytes / parameter_bytes, stage.weight_bytes},
                      *pricing.training, pricing.dtype, device_of(work));
}

double PlacedPrices::behind_cache(const StageWork& work, double misses_s) {
  const auto [known, fresh] = cached_.try_emplace(work);
  if (fresh) known->second = cached_passes(work);
  double bytes = 0, seconds = 0;
  for (const CachedPass& pass : known->second) bytes += pass.multiple * pass.bytes;
  for (const CachedPass& pass : known->second) {
    const double more_s = bytes > 0 ? misses_s * pass.bytes / bytes : 0;
    seconds += pass.multiple * std::max(pass.near_s, pass.bytes_s + more_s);
  }
  return bytes > 0 ? seconds : seconds + misses_s;
}

std::vector<PlacedPrices::CachedPass> PlacedPrices::cached_passes(const StageWork& work) {
  const Pricing& pricing = request_.pricing;
  if (work.kind == ActionKind::update)
    return {cached_pass(of_update_query(work), of(work, {}).seconds)};
  std::vector<CachedPass> passes;
  for (const LayerPass& one : layer_passes(pricing, query_of_stage(work))) {
    const Query query = query_of(pricing.model, pricing.model.layers[one.layer], one.pass,
                                 work.samples, pricing.dtype, device_of(work));
    passes.push_back(cached_pass(query, of_pass(one.layer, one.pass, work, {}).seconds));
    passes.back().multiple = one.multiple.value_or(1);
  }
  return passes;
}

PlacedPrices::CachedPass PlacedPrices::cached_pass(const Query& query, double near_s) const {
  CachedPass pass{near_s, near_s, query.work.bytes};
  Query flop = query, bytes = query;
  flop.operands.clear();
  flop.work.bytes = flop.work.written = 0;
  bytes.operands.clear();
  bytes.work.flop = 0;
  const Cost& cost = request_.pricing.cost;
  const double flop_s = cost.of(flop).seconds, bytes_s = cost.of(bytes).seconds;
  const bool roofline = std::abs(std::max(flop_s, bytes_s) - near_s) <= 1e-9 * near_s;
  if (roofline) pass.bytes_s = bytes_s;
  return pass;
}

Price PlacedPrices::of_pass(std::uint32_t number, Pass pass, const StageWork& work,
                            const TensorKinds& slow) const {
  const Pricing& pricing = request_.pricing;
  const Device& device = device_of(work);
  const Query query = query_of(pricing.model, pricing.model.layers[number], pass, work.samples,
                               pricing.dtype, device);
  std::vector<std::string> pools;
  bool near = true;  // whether all operands are in the first memory
  for (const TensorKind& kind : operand_kinds(number, pass, work)) {
    near = near && slow.count(kind) == 0;
    pools.push_back(device.memories[slow.count(kind)].pool);
  }
  // A query without a list of operands stands for operands that are all in the first memory. The plan of the policy has
  // the prices of such queries.
  return near ? pricing.cost.of(query)
              : placed_price(pricing.platform, pricing.cost, placed_query(query, pools)).price;
}

double PlacedPrices::least_seconds(const PassOfLayer& one_pass) const {
  const auto& [number, pass, samples, device, all_slow] = one_pass;
  const bool training = request_.pricing.training != nullptr;
  const auto& stages = request_.pricing.stages;
  const auto stage = std::find_if(stages.begin(), stages.end(),
                                  [&](const Stage& one) { return number <= one.last; });
  StageWork work{.device = device,
                 .stage = static_cast<std::int32_t>(stage - stages.begin()),
                 .samples = samples};
  double least = std::numeric_limits<double>::infinity();
  for (const bool keeps : {false, true}) {
    if (keeps && !training) continue;
    work.keeps = keeps;
    const std::vector<TensorKind> operands = operand_kinds(number, pass, work);
    TensorKinds all(operands.begin(), operands.end());
    // A plan has no tensors for a working set that is not counted. Kernels then read and write it in the first memory.
    if (!request_.working_set_counted)
      std::erase_if(
          all, [](const TensorKind& kind) { return kind.tensor_class == TensorClass::workspace; });
    // A plan of training may also lack tensors of other kinds, for example gradients. Which kinds it
    // lacks is not known here. So in training, every set of kinds is tried as the set in the second memory, even if
    // `all_slow` is true.
    if (all_slow && !training) return of_pass(number, pass, work, all).seconds;
    for (std::size_t set = 0; set < std::size_t{1} << all.size(); ++set) {
      TensorKinds slow;
      std::size_t k = 0;
      for (const TensorKind& kind : all)
        if ((set >> k++ & 1U) != 0) slow.insert(kind);
      try {
        least = std::min(least, of_pass(number, pass, work, slow).seconds);
      } catch (const InputError&) {
        // Placements of single kinds without a price are not tried (PlacedKinds::filled).
        if (classes_are_together(all, slow)) throw;
      }
    }
  }
  return least;
}

double PlacedPrices::least_seconds(const StageWork& work) const {
  if (work.kind == ActionKind::update) {
    const std::vector<TensorKind> kinds = update_kinds(work);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t set = 0; set < std::size_t{1} << kinds.size(); ++set) {
      TensorKinds slow;
      for (std::size_t k = 0; k < kinds.size(); ++k)
        if ((set >> k & 1U) != 0) slow.insert(kinds[k]);
      least = std::min(least, of_update(work, slow).seconds);
    }
    return least;
  }
  double seconds = 0;
  for (const LayerPass& one : layer_passes(request_.pricing, query_of_stage(work)))
    seconds += one.part({.seconds = least_seconds({.layer = one.layer,
                                                   .pass = one.pass,
                                                   .samples = work.samples,
                                                   .device = work.device})})
                   .seconds;
  return seconds;
}

/// The stage of `work` reads or writes the output of a layer. Returns whether this output goes from stage to stage: an
/// earlier stage makes it, or a later stage reads it. In training, a tensor that no layer reads is a part of the
/// answer, and every later stage passes it on. In inference, this depends on the policy (PassedTensors).
bool PlacedPrices::crosses(std::uint32_t layer, const StageWork& work) const {
  const Stage& stage = stage_of(work);
  if (layer < stage.first || last_readers_[layer] > stage.last) return true;
  const bool last = &stage == &request_.pricing.stages.back();
  return passes_answers() && last_readers_[layer] == 0 && !last;
}

/// Returns the kind of a layer's output, for a computation that reads or writes the output. The first stage reads the
/// input of the model as a tensor of the class `input`. In training, later stages do so, too, unless all layers of the
/// first stage are inputs. In inference, this depends on the policy. In all other cases, later stages read the input of
/// the model as an activation.
TensorKind PlacedPrices::kind_of_output(std::uint32_t layer, const StageWork& work) const {
  const Model& model = request_.pricing.model;
  const std::uint32_t made = origin_of(model, layer);
  if (is_input(model.layers[made]) && (work.stage == 0 || first_computes_ || passed_.inputs_stay))
    return {TensorClass::input};
  if (crosses(made, work)) return {TensorClass::activation, stage_of_activations(made_by_[made])};
  if (last_readers_[made] == 0) return {TensorClass::output};
  if (work.keeps && kept_[made] != 0) return kept_in(work);
  return {TensorClass::workspace, work.stage};
}

/// Returns the kind of the gradient of a layer's output. Plans have a tensor for this gradient if it passes from stage
/// to stage. Any other gradient is part of the workspace of a backward pass.
TensorKind PlacedPrices::kind_of_gradient(std::uint32_t layer, const StageWork& work) const {
  const Model& model = request_.pricing.model;
  const std::uint32_t made = origin_of(model, layer);
  if (crosses(made, work) && !is_input(model.layers[made]))
    return {TensorClass::gradient, stage_of_activations(made_by_[made])};
  return {TensorClass::workspace, work.stage};
}

std::uint32_t PlacedPrices::first_with_memory_of(std::uint32_t device) const {
  const std::vector<Device>& devices = request_.pricing.platform.devices;
  const auto first = std::ranges::find_if(devices, [&](const Device& other) {
    return other.memory().pool == devices[device].memory().pool;
  });
  return static_cast<std::uint32_t>(first - devices.begin());
}

/// Returns the kinds on the device of a computation.
std::vector<TensorKind> PlacedPrices::on_device_of(const StageWork& work,
                                                   std::vector<TensorKind> kinds) const {
  const std::uint32_t device = first_with_memory_of(work.device);
  for (TensorKind& kind : kinds)
    if (kind.tensor_class != TensorClass::weight) kind.device = device;
  return kinds;
}

/// Returns the kinds of the operands of the layer's pass, in the order of operands_of().
std::vector<TensorKind> PlacedPrices::operand_kinds(std::uint32_t number, Pass pass,
                                                    const StageWork& work) const {
  return on_device_of(work, kinds_of_operands(number, pass, work));
}

/// Returns these kinds without their devices.
std::vector<TensorKind> PlacedPrices::kinds_of_operands(std::uint32_t number, Pass pass,
                                                        const StageWork& asked) const {
  const Layer& layer = request_.pricing.model.layers[number];
  std::vector<TensorKind> kinds;
  if (!does_work(layer, pass)) return kinds;
  // When a backward pass runs, the inner tensors have been kept. Selective recomputation reads and writes them, too.
  StageWork work = asked;
  work.keeps = asked.keeps || asked.selective ||
               (asked.kind != ActionKind::forward && asked.kind != ActionKind::recompute);
  const auto read_inputs = [&] {
    for (const std::uint32_t input : layer.inputs) kinds.push_back(kind_of_output(input, work));
  };
  const bool reads = !reads_nothing(layer), weights = layer.parameters > 0 || layer.shared > 0;
  if (reads && (is_forward(pass) || layer.backward.reads_inputs)) read_inputs();
  if (weights) kinds.push_back({TensorClass::weight, work.stage});
  if (is_forward(pass)) {
    if (layer.cached > 0) kinds.push_back({TensorClass::kv_cache, work.stage});
    kinds.push_back(kind_of_output(number, work));
    return kinds;
  }
  if (layer.backward.reads_output) kinds.push_back(kind_of_output(number, work));
  kinds.push_back(kind_of_gradient(number, work));
  if (layer.backward.kept > 0 || layer.backward.kept_bytes > 0) kinds.push_back(kept_in(work));
  if (reads && !(layer.macs > 0 && layer.backward.input_flop == 0))
    for (const std::uint32_t input : layer.inputs) kinds.push_back(kind_of_gradient(input, work));
  if (weights) kinds.push_back(gradients_of(work));
  return kinds;
}

/// Returns the kinds of the operands of an update, in the order of update_query().
std::vector<TensorKind> PlacedPrices::update_kinds(const StageWork& work) const {
  return on_device_of(work, {{TensorClass::weight, work.stage},
                             gradients_of(work),
                             {TensorClass::optimizer, work.stage}});
}

}  // namespace sluice
