// With the cut `by_memory`, each stage is as long as the device's memory allows. The stages are chosen greedily: first
// the longest first stage that fits, then the longest second stage, and so on. If a longer stage never needs less
// memory than a shorter stage, this gives the fewest stages. But after some stages, even the shortest next stage may
// not fit. Then a search finds the fewest stages that all fit. Some of its early stages are shorter than the greedy
// stages.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <utility>

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/partial.hpp"
#include "stage/sizes.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

struct Need {
  std::int64_t weights = 0, state = 0, cache = 0, input = 0, output = 0, workspace = 0;
  /// The bytes of tensors for the backward pass, including the gradients of input and output.
  std::int64_t kept = 0;
  /// Returns the part of the bytes that never gets smaller if layers are added at the end of the stage.
  std::int64_t growing() const { return sum({weights, state, cache, input, workspace}); }
  std::int64_t total() const { return sum({growing(), output, kept}); }

 private:
  static std::int64_t sum(std::initializer_list<std::int64_t> parts) {
    std::int64_t all = 0;
    for (const std::int64_t part : parts) all = checked_add(all, part, "bytes of a stage");
    return all;
  }
};

Need need_of(const CutRequest& request, const Sizes& sizes, std::uint32_t first, std::uint32_t last,
             std::int64_t workspace) {
  const auto all = [&](std::int64_t bytes) {
    return checked_mul(bytes, request.samples, "bytes of a micro-batch");
  };
  Need need{.weights = sizes.weights(first, last),
            .cache = checked_mul(request.one_device ? sizes.cached(0, sizes.layers() - 1)
                                                    : sizes.cached(first, last),
                                 request.cached_samples, "bytes of caches"),
            .input = all(sizes.input(first)),
            .output = all(sizes.output(last)),
            .workspace = request.working_set_counted ? all(workspace) : 0};
  if (!request.state_bytes) return need;
  need.state = checked_mul(need.weights / bytes_of(request.dtype), *request.state_bytes,
                           "bytes of gradients and optimizer state");
  const std::int64_t gradients = checked_add(need.input, need.output, "bytes of gradients");
  need.kept = checked_add(all(sizes.kept(first, last).inner_bytes), gradients, "bytes kept");
  return need;
}

std::int64_t budget_of(const CutRequest& request, const Reader& parameters) {
  const double share = parameters.number("share");
  const auto capacity = *request.device.memory().capacity;
  return share == 1 ? capacity
                    : static_cast<std::int64_t>(std::floor(static_cast<double>(capacity) * share));
}

/// Returns advice for the message about a layer that does not fit. The advice depends on whether parts of the layer
/// might fit: a part has only a share of the layer's weights and state.
std::string advice(const CutRequest& request, const Need& need, std::int64_t budget, bool split) {
  if (!split && need.total() - need.weights - need.state < budget)
    return "use stages.split=true, which splits such a layer into parts";
  return std::string("the layer would not fit even if its weights were split") +
         (request.samples > 1 ? ": use a smaller workload.micro_batch" : "");
}

/// Returns the bytes that each class of tensors needs. Classes that need no bytes are left out.
std::vector<std::pair<std::string, std::int64_t>> by_class(const Need& need) {
  std::vector<std::pair<std::string, std::int64_t>> classes = {
      {"weight", need.weights},       {"gradient and optimizer", need.state},
      {"kv_cache", need.cache},       {"input", need.input},
      {"output", need.output},        {"workspace", need.workspace},
      {"kept activations", need.kept}};
  std::erase_if(classes, [](const auto& entry) { return entry.second == 0; });
  return classes;
}

/// Throws an error: the caches do not fit even if the device holds nothing else. So another cut would not help.
[[noreturn]] void refuse_caches(const CutRequest& request, const Need& need, std::int64_t budget) {
  const std::int64_t each = need.cache / request.cached_samples;
  const std::int64_t most = budget / each;
  const auto samples = [](std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " sample" : " samples");
  };
  throw Infeasible(
      "the caches of keys and values do not fit into device '" + request.device.name +
          "': " + samples(request.cached_samples) + " of " + std::to_string(each) + " B are " +
          std::to_string(need.cache) + " B, and " + std::to_string(budget) + " of " +
          std::to_string(*request.device.memory().capacity) + " B may be used. " +
          (most > 0
               ? "Caches of " + samples(most) +
                     " would fit if the device held only the caches: use a smaller "
                     "workload.batch, or fewer cached tokens"
               : std::string("Even the caches of one sample do not fit: use fewer cached tokens")),
      {.pool = request.device.name,
       .needed_bytes = need.total(),
       .available_bytes = budget,
       .by_class = by_class(need)});
}

[[noreturn]] void refuse(const CutRequest& request, std::uint32_t layer, const Need& need,
                         std::int64_t budget, bool split) {
  if (need.cache > budget) refuse_caches(request, need, budget);
  const auto bytes = [](std::int64_t count) { return std::to_string(count) + " B"; };
  std::string parts = "weights " + bytes(need.weights);
  if (request.state_bytes) parts += " + gradients and optimizer state " + bytes(need.state);
  if (need.cache > 0) parts += " + caches of keys and values " + bytes(need.cache);
  parts += " + input " + bytes(need.input) + " + output " + bytes(need.output) + " + workspace " +
           bytes(need.workspace);
  if (request.state_bytes)
    parts += " + tensors for the backward pass, including gradients, " + bytes(need.kept);
  throw Infeasible("layer '" + request.model.layers[layer].name + "' does not fit into device '" +
                       request.device.name + "' alone: " + parts + " = " + bytes(need.total()) +
                       " for " + std::to_string(request.samples) + " samples, and " +
                       bytes(budget) + " of " + bytes(*request.device.memory().capacity) +
                       " may be used; " + advice(request, need, budget, split),
                   {.pool = request.device.name,
                    .needed_bytes = need.total(),
                    .available_bytes = budget,
                    .by_class = by_class(need)});
}

/// Returns, in ascending order, each layer L for which the stage first..L fits.
std::vector<std::uint32_t> fitting(const CutRequest& request, const Sizes& sizes,
                                   std::uint32_t first, std::int64_t budget) {
  std::vector<std::uint32_t> lasts;
  Sizes::Workspace workspace(sizes, first);
  bool computes = false;
  for (std::uint32_t layer = first; layer < sizes.layers(); ++layer) {
    const std::int64_t needed = workspace.extend();
    // Inputs at the beginning of a stage do no work. So the shortest stage ends at the first layer that computes.
    computes = computes || !request.model.layers[layer].inputs.empty();
    if (!computes && layer + 1 < sizes.layers()) continue;
    const Need need = need_of(request, sizes, first, layer, needed);
    // A longer stage may need less memory than this stage, because its output may be smaller. Some bytes never get
    // fewer in a longer stage: growing() counts these bytes. If they alone are too many, all longer stages are too
    // large.
    if (need.growing() > budget) break;
    if (need.total() <= budget) lasts.push_back(layer);
  }
  return lasts;
}

/// Throws an error: even the shortest stage that begins at `first` does not fit.
[[noreturn]] void refuse_from(const CutRequest& request, const Sizes& sizes, std::uint32_t first,
                              std::int64_t budget, bool split) {
  Sizes::Workspace workspace(sizes, first);
  std::uint32_t layer = first;
  for (; layer + 1 < sizes.layers() && request.model.layers[layer].inputs.empty(); ++layer)
    workspace.extend();
  refuse(request, layer, need_of(request, sizes, first, layer, workspace.extend()), budget, split);
}

/// Returns the last layers of the fewest stages that all fit. If several divisions have the fewest stages, takes the
/// division with the longest early stages. If no division fits, returns an empty list. A dynamic programme goes
/// backwards through the layers. For each layer, it finds the fewest stages from this layer to the end of the model.
std::vector<std::uint32_t> fewest(const CutRequest& request, const Sizes& sizes,
                                  std::int64_t budget) {
  struct RemainingCut {
    std::uint32_t stages = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t last = 0;  ///< the last layer of the first stage
  };
  constexpr std::uint32_t impossible = std::numeric_limits<std::uint32_t>::max();
  std::vector<RemainingCut> rest(sizes.layers() + 1);
  rest.back().stages = 0;
  for (std::uint32_t first = sizes.layers(); first-- > 0;)
    for (const std::uint32_t last : fitting(request, sizes, first, budget)) {
      const std::uint32_t after = rest[last + 1].stages;
      if (after != impossible && after + 1 <= rest[first].stages) rest[first] = {after + 1, last};
    }
  std::vector<std::uint32_t> lasts;
  if (rest.front().stages == impossible) return lasts;
  for (std::uint32_t first = 0; first < sizes.layers(); first = lasts.back() + 1)
    lasts.push_back(rest[first].last);
  return lasts;
}

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const Sizes sizes(request.model, request.dtype);
  if (!request.device.memory().capacity) return {sizes.layers() - 1};
  const std::int64_t budget = budget_of(request, parameters);
  std::vector<std::uint32_t> last;
  for (std::uint32_t first = 0; first < sizes.layers(); first = last.back() + 1) {
    const std::vector<std::uint32_t> fits = fitting(request, sizes, first, budget);
    if (!fits.empty()) {
      last.push_back(fits.back());
      continue;
    }
    last = fewest(request, sizes, budget);
    if (last.empty()) refuse_from(request, sizes, first, budget, parameters.boolean("split"));
    break;
  }
  return last;
}

bool parts_fit(const CutRequest& request, std::uint32_t layer, std::int64_t count,
               std::int64_t budget) {
  std::vector<std::int64_t> parts(request.model.layers.size(), 1);
  parts[layer] = count;
  parts = split_alike(request.model, std::move(parts));
  const Model split = split_layers(request.model, parts);
  const Sizes sizes(split, request.dtype);
  const auto first = static_cast<std::uint32_t>(
      std::accumulate(parts.begin(), parts.begin() + layer, std::int64_t{0}));
  for (std::uint32_t part = first; part < first + count; ++part)
    if (need_of(request, sizes, part, part, 0).total() > budget) return false;
  return true;
}

/// Returns for each layer the least number of equal parts such that each part fits alone. A part needs memory for its
/// share of the layer's weights and state, for the layer's inputs, and for the outputs of this part and of other parts.
std::vector<std::int64_t> parts_of_layers(const CutRequest& request, const Reader& parameters) {
  constexpr std::int64_t most = 1024;
  const Sizes sizes(request.model, request.dtype);
  std::vector<std::int64_t> parts(sizes.layers(), 1);
  if (!request.device.memory().capacity || !parameters.boolean("split")) return parts;
  const std::int64_t budget = budget_of(request, parameters);
  for (std::uint32_t layer = 0; layer < sizes.layers(); ++layer) {
    if (request.model.layers[layer].inputs.empty()) continue;
    const Need alone = need_of(request, sizes, layer, layer, 0);
    if (alone.total() <= budget) continue;
    const std::int64_t shared = checked_add(alone.weights, alone.state, "bytes of a layer");
    const std::int64_t room = budget - (alone.total() - shared);
    if (room <= 0 || shared == 0) refuse(request, layer, alone, budget, /*split=*/true);
    std::int64_t count = (shared + room - 1) / room;
    while (count <= most && !parts_fit(request, layer, count, budget)) ++count;
    if (count > most) refuse(request, layer, alone, budget, /*split=*/true);
    parts[layer] = count;
  }
  return parts;
}

}  // namespace

extern const Cut by_memory_cut = {
    .name = "by_memory",
    .summary =
        "Makes each stage as long as the device's memory allows. The memory holds all caches of keys and values. In "
        "addition, it must hold the weights of a stage, and the stage's input, output and workspace for one "
        "micro-batch. In training, it must also hold the gradients, the optimizer state and the tensors for the "
        "backward pass of the stage.",
    .details =
        "Use this cut to have as few stages as the memory allows, for example if weights "
        "are loaded stage by stage and no weights are loaded early. The stages depend on the "
        "capacity of the device, the micro-batch and the element types. A small `share` "
        "leaves room for weights that are loaded early, but it leads to more stages than a "
        "large `share`. If a layer does not fit alone, `split: true` splits the layer into parts. "
        "Without `split: true`, the model is refused.",
    .source = "AlexNet on one card",
    .example = "sluice run alexnet_x200 'stages={cut: by_memory, share: 40%, split: true}'",
    .parameters =
        {Key::number("share", "the share of the device's memory that a stage may use")
             .by_default("1")
             .more_than(0)
             .at_most(1),
         Key::boolean(
             "split",
             "whether a layer that does not fit alone is split into equal parts, into as few parts "
             "as fit")
             .by_default("false")},
    .last_layers = last_layers,
    .parts = parts_of_layers,
    .ignores_prices = true,
};

}  // namespace sluice
