// The cut `by_weight` makes stages whose weights have at most a given number of bytes: a share of all weights. Of the
// places where it may cut, it takes those where few bytes cross from one stage to the next. The cut depends only on the
// model, not on the machine.
#include <algorithm>
#include <limits>

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "stage/sizes.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

std::int64_t share_of(const CutRequest& request, const Reader& parameters) {
  const Sizes sizes(request.model, request.dtype);
  const std::int64_t all = sizes.weights(0, sizes.layers() - 1),
                     groups = parameters.integer("groups");
  return (all + groups - 1) / groups;
}

/// Returns for each layer the number of equal parts into which it is split: the least number for which each part has at
/// most one share of the weights.
std::vector<std::int64_t> parts_of_layers(const CutRequest& request, const Reader& parameters) {
  constexpr std::int64_t most = 1024;
  const Sizes sizes(request.model, request.dtype);
  std::vector<std::int64_t> parts(sizes.layers(), 1);
  const std::int64_t share = share_of(request, parameters);
  if (share == 0 || !parameters.boolean("split")) return parts;
  for (std::uint32_t layer = 0; layer < sizes.layers(); ++layer)
    if (!request.model.layers[layer].inputs.empty())
      parts[layer] =
          std::clamp<std::int64_t>((sizes.weights(layer, layer) + share - 1) / share, 1, most);
  return parts;
}

/// The best way to divide all layers up to a certain layer into stages. `widest` is the most bytes that cross any cut
/// of this division. The best division has the smallest `widest`, and of several such divisions the fewest stages.
struct Row {
  std::int64_t widest = std::numeric_limits<std::int64_t>::max();
  std::uint32_t stages = 0;
  std::uint32_t first = 0;  ///< the first layer of the division's last stage
  bool operator<(const Row& other) const {
    return widest < other.widest || (widest == other.widest && stages < other.stages);
  }
};

/// Returns true if a stage may end with this layer. A stage may not end with an input, because inputs do no work.
bool may_end(const Model& model, std::uint32_t layer) {
  return !model.layers[layer].inputs.empty();
}

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const Sizes sizes(request.model, request.dtype);
  const std::uint32_t count = sizes.layers();
  const std::int64_t share = share_of(request, parameters);
  std::vector<Row> rows(count);
  for (std::uint32_t last = 0; last < count; ++last) {
    if (last + 1 < count && !may_end(request.model, last)) continue;
    const std::int64_t crossing = last + 1 < count ? sizes.output(last) : 0;
    for (std::uint32_t first = last + 1; first-- > 0;) {
      // A stage may have more weights than the share if it cannot be shorter. Such a stage has a single layer, or all
      // its layers except the last layer are inputs.
      const bool shortest = first == last || !may_end(request.model, first);
      if (!shortest && sizes.weights(first, last) > share) break;
      if (first == 0) {
        rows[last] = std::min(rows[last], {crossing, 1, 0});
      } else if (rows[first - 1].stages > 0) {
        const Row& before = rows[first - 1];
        rows[last] =
            std::min(rows[last], {std::max(before.widest, crossing), before.stages + 1, first});
      }
    }
  }
  std::vector<std::uint32_t> lasts;
  for (std::uint32_t last = count - 1;; last = rows[last].first - 1) {
    lasts.push_back(last);
    if (rows[last].first == 0) break;
  }
  std::reverse(lasts.begin(), lasts.end());
  return lasts;
}

}  // namespace

extern const Cut by_weight_cut = {
    .name = "by_weight",
    .summary =
        "Divides the weights into equal shares, and makes stages with at most one share each. Of several "
        "such cuts, chooses the cut whose largest boundary has the fewest bytes. A layer with more weights "
        "than the share is split into equal parts.",
    .details =
        "Use this cut for streamed weights. Equal groups take equally long to load. With more "
        "groups, more memory is left for micro-batches in flight. The cut depends only on weights, "
        "so the stages are the same on all machines. Computation may be spread unequally over the "
        "stages.",
    .source =
        "AlexNet on one card, \"split 15, as 15a and 15b\"; here, the shares do not depend on the "
        "machine",
    .example = "sluice run alexnet_x200 'stages={cut: by_weight, groups: 12}'",
    .parameters =
        {Key::integer("groups", "the number of shares into which the weights are divided")
             .between(1, 1e6),
         Key::boolean(
             "split",
             "whether layers with more than a share of the weights are split into equal parts")
             .by_default("true")},
    .last_layers = last_layers,
    .parts = parts_of_layers,
    .ignores_prices = true,
};

}  // namespace sluice
