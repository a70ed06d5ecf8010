// The cut `balanced` makes a given number of stages. Of all such cuts, it is the cut whose slowest stage takes the
// least time, or whose stage with the most weights has the fewest.
#include <bit>
#include <cmath>

#include "document/key.hpp"
#include "stage/sizes.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

/// The layers that compute, in order. Inputs are not in this chain. before[i] is the sum over the first i layers of the
/// chain: of their seconds, or of the bytes of their weights. last[i] is the index that layer i of the chain has in the
/// model.
struct Chain {
  std::vector<double> before = {0};
  std::vector<std::uint32_t> last;
  std::size_t size() const { return last.size(); }
};

Chain chain_of(const CutRequest& request, bool of_weights) {
  const Sizes sizes(request.model, request.dtype);
  Chain chain;
  const std::vector<Layer>& layers = request.model.layers;
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    if (layers[i].inputs.empty()) continue;
    chain.before.push_back(chain.before.back() + (of_weights ? static_cast<double>(sizes.weights(i, i))
                                                             : forward_s(request, layers[i])));
    chain.last.push_back(i);
  }
  if (chain.size() == 0) throw InputError("a model without layers cannot be balanced");
  chain.last.back() = static_cast<std::uint32_t>(layers.size()) - 1;
  return chain;
}

/// Returns the end of each of `count` stages: the index of its last layer in the chain, plus 1. Each stage gets as many
/// layers as it can compute in `bound` seconds, or layers with at most `bound` bytes of weights. But at least one layer
/// must be left for each later stage. If `bound` is too small, the stages do not cover all layers.
std::vector<std::size_t> fill(const Chain& chain, std::size_t count, double bound) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  for (std::size_t left = count; left > 0; --left) {
    std::size_t end = begin;
    while (end + left <= chain.size() && chain.before[end + 1] - chain.before[begin] <= bound)
      ++end;
    if (end == begin) break;
    ends.push_back(end);
    begin = end;
  }
  return ends;
}

bool covers(const Chain& chain, std::size_t count, double bound) {
  const std::vector<std::size_t> ends = fill(chain, count, bound);
  return ends.size() == count && ends.back() == chain.size();
}

/// Returns the smallest bound with which the stages of fill() cover all layers. The bound is exact to the last bit: it
/// is found by a bisection of bit patterns, which takes at most 64 steps. This works because the bit patterns of
/// non-negative doubles have the same order as the doubles.
double least_bound(const Chain& chain, std::size_t count) {
  auto low = std::bit_cast<std::uint64_t>(0.0);
  auto high = std::bit_cast<std::uint64_t>(chain.before.back());
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (covers(chain, count, std::bit_cast<double>(middle)))
      high = middle;
    else
      low = middle + 1;
  }
  return std::bit_cast<double>(low);
}

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const Chain chain = chain_of(request, parameters.text("of") == "weights");
  const auto count = static_cast<std::size_t>(parameters.integer("count"));
  if (count > chain.size())
    parameters.fail("count", "'" + parameters.text("count") + "' for 'count': expected at most " +
                                 std::to_string(chain.size()) +
                                 ", the number of layers of the model that compute");
  std::vector<std::uint32_t> last;
  for (const std::size_t end : fill(chain, count, least_bound(chain, count)))
    last.push_back(chain.last[end - 1]);
  return last;
}

}  // namespace

extern const Cut balanced_cut = {
    .name = "balanced",
    .summary =
        "Makes a given number of stages. By the cost model, the longest stage takes as little time as "
        "possible, or the stage with the most weights has as few as possible. If several cuts are "
        "equally good, chooses the cut with the longest early stages.",
    .details =
        "Use this cut for several devices, each with one stage: the slowest stage limits the "
        "throughput. The time of a "
        "stage is the seconds of its computation. Loads of weights and transfers of boundaries do not count. "
        "The stages change with the cost model and the device. With `of: weights`, the stages have "
        "about equally many bytes of weights, and are the same on all machines. The cut by_weight "
        "does this, too. But it splits large layers, or makes another number of stages.",
    .source = "the linear partition problem, solved exactly",
    .example = "sluice run sharded_ipu_pair 'stages={cut: balanced, count: 2}'",
    .parameters = {Key::integer("count", "The number of stages.").between(1, 1e6),
                   Key::choice("of", {"time", "weights"},
                               "what the stages have about equally much of: time, the seconds of the forward pass; "
                               "weights, the bytes of the weights")
                       .by_default("time")},
    .last_layers = last_layers,
};

}  // namespace sluice
