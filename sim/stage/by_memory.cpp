// by_memory: each stage is as long as fits into the device's memory. Greedy from the front, which
// gives the fewest stages where a longer stage never needs less.
#include <cmath>
#include <optional>

#include "base/quantity.hpp"
#include "stage/sizes.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

struct Need {
  std::int64_t weights = 0, input = 0, output = 0, workspace = 0;
  /// What a longer stage needs at least as much of.
  std::int64_t growing() const {
    return checked_add(checked_add(weights, input, "bytes of a stage"), workspace,
                       "bytes of a stage");
  }
  std::int64_t total() const { return checked_add(growing(), output, "bytes of a stage"); }
};

Need need_of(const CutRequest& request, const Sizes& sizes, std::uint32_t first, std::uint32_t last,
             std::int64_t workspace) {
  const auto all = [&](std::int64_t bytes) {
    return checked_mul(bytes, request.samples, "bytes of a micro-batch");
  };
  return {sizes.weights(first, last), all(sizes.input(first)), all(sizes.output(last)),
          request.working_set_counted ? all(workspace) : 0};
}

[[noreturn]] void refuse(const CutRequest& request, std::uint32_t layer, const Need& need,
                         std::int64_t budget) {
  const auto bytes = [](std::int64_t count) { return std::to_string(count) + " B"; };
  throw Infeasible("layer '" + request.model.layers[layer].name + "' does not fit into device '" +
                   request.device.name + "' alone: weights " + bytes(need.weights) + " + input " +
                   bytes(need.input) + " + output " + bytes(need.output) + " + workspace " +
                   bytes(need.workspace) + " = " + bytes(need.total()) + " for " +
                   std::to_string(request.samples) + " samples, and " + bytes(budget) + " of " +
                   bytes(*request.device.capacity) + " may be used");
}

/// The last layer of the longest stage that begins at `first` and fits.
std::uint32_t longest(const CutRequest& request, const Sizes& sizes, std::uint32_t first,
                      std::int64_t budget) {
  Sizes::Workspace workspace(sizes, first);
  std::uint32_t layer = first;
  // Leading inputs do no work: the shortest stage ends at the first layer that computes.
  while (layer + 1 < sizes.layers() && request.model.layers[layer].inputs.empty()) {
    workspace.extend();
    ++layer;
  }
  const std::uint32_t shortest = layer;
  const Need alone = need_of(request, sizes, first, layer, workspace.extend());
  std::optional<std::uint32_t> fits;
  if (alone.total() <= budget) fits = layer;
  // A longer stage may need less than a shorter one (what leaves it may be smaller), so the search
  // goes on until even without an output it would be too much.
  while (++layer < sizes.layers()) {
    const Need need = need_of(request, sizes, first, layer, workspace.extend());
    if (need.growing() > budget) break;
    if (need.total() <= budget) fits = layer;
  }
  if (!fits) refuse(request, shortest, alone, budget);
  return *fits;
}

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const Sizes sizes(request.model, request.dtype);
  if (!request.device.capacity) return {sizes.layers() - 1};
  const double share = parameters.number("share");
  const auto capacity = *request.device.capacity;
  const auto budget =
      share == 1 ? capacity
                 : static_cast<std::int64_t>(std::floor(static_cast<double>(capacity) * share));
  std::vector<std::uint32_t> last;
  for (std::uint32_t first = 0; first < sizes.layers(); first = last.back() + 1)
    last.push_back(longest(request, sizes, first, budget));
  return last;
}

}  // namespace

extern const Cut by_memory_cut = {
    .name = "by_memory",
    .summary =
        "Each stage is as long as its weights, input, output and workspace for one "
        "micro-batch fit into the device's memory.",
    .source = "seed 000",
    .parameters = {{.name = "share",
                    .type = Type::number,
                    .summary = "Share of the device's memory that a stage may take.",
                    .default_text = "1",
                    .maximum = 1,
                    .minimum_excluded = true}},
    .last_layers = last_layers,
};

}  // namespace sluice
