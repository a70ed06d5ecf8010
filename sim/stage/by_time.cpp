// The cut `by_time` is for a device that loads the weights of the stages one after the other. It finds the stages whose
// seconds have the least sum. A stage computes all micro-batches in flight while weights are loaded. So the seconds of
// a stage are the longer of two times: the time of this computation, and the time of the load of the stage's weights.
// The memory must hold the stage and the activations that wait before it and behind it. A step is one or several passes
// through the stages. For each of several numbers of passes, a dynamic programme finds the best cut.
#include <algorithm>
#include <optional>

#include "base/never.hpp"
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "stage/sizes.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

/// Sums of seconds that differ by at most this share are equal. Of equally fast divisions, the one with the fewest
/// stages is best: each stage has transfers of its own, and the estimate does not count their set-up.
constexpr double rounding = 1e-9;

/// The best stages for a given number of micro-batches in flight.
struct Division {
  double seconds = never;  ///< the seconds of all passes of a step
  std::vector<std::uint32_t> last;
};

class Divider {
 public:
  explicit Divider(const CutRequest& request)
      : request_(request),
        sizes_(request.model, request.dtype),
        load_bandwidth_(request.load_bandwidth ? request.load_bandwidth() : never),
        elapsed_{0} {
    for (const Layer& layer : request.model.layers)
      elapsed_.push_back(elapsed_.back() + forward_s(request, layer));
  }

  Division divide(std::int64_t in_flight) const {
    struct BestDivision {
      double seconds = never;
      std::uint32_t stages = 0, first = 0;
    };
    const std::uint32_t count = sizes_.layers();
    // best[i] is the best division of the first i layers into stages.
    std::vector<BestDivision> best(count + 1);
    best[0].seconds = 0;
    for (std::uint32_t first = 0; first < count; ++first) {
      if (best[first].seconds == never) continue;
      Sizes::Workspace workspace(sizes_, first);
      for (std::uint32_t last = first; last < count; ++last) {
        const std::int64_t inner = workspace.extend();
        if (leading_input(last)) continue;
        if (weights(first, last) > *request_.device.memory().capacity) break;
        if (!fits(first, last, inner, in_flight)) continue;
        const double seconds = best[first].seconds + stage_seconds(first, last, in_flight);
        BestDivision& found = best[last + 1];
        // The same seconds, added up in another order, differ by a rounding error. So nearly equal seconds count as equal.
        const bool fewer = best[first].stages + 1 < found.stages;
        if (seconds < found.seconds * (fewer ? 1 + rounding : 1 - rounding))
          found = {seconds, best[first].stages + 1, first};
      }
    }
    Division division;
    const std::int64_t passes = (request_.micro_batches + in_flight - 1) / in_flight;
    division.seconds = static_cast<double>(passes) * best[count].seconds;
    if (division.seconds == never) return division;
    for (std::uint32_t end = count; end > 0; end = best[end].first)
      division.last.push_back(end - 1);
    std::reverse(division.last.begin(), division.last.end());
    return division;
  }

 private:
  /// Returns true if the layer is an input and has a next layer. An input does no work. So it belongs to the stage of
  /// the next layer.
  bool leading_input(std::uint32_t layer) const {
    return request_.model.layers[layer].inputs.empty() && layer + 1 < sizes_.layers();
  }

  std::int64_t weights(std::uint32_t first, std::uint32_t last) const {
    return sizes_.weights(first, last);
  }

  double stage_seconds(std::uint32_t first, std::uint32_t last, std::int64_t in_flight) const {
    const double computed = static_cast<double>(in_flight) * (elapsed_[last + 1] - elapsed_[first]);
    return std::max(computed, static_cast<double>(weights(first, last)) / load_bandwidth_);
  }

  bool fits(std::uint32_t first, std::uint32_t last, std::int64_t inner,
            std::int64_t in_flight) const {
    __extension__ using Wide = __int128;  // Each factor of a product may have 63 bits.
    const Wide in = static_cast<Wide>(sizes_.input(first)) * request_.samples,
               out = static_cast<Wide>(sizes_.output(last)) * request_.samples;
    const Wide waiting_in = first == 0 ? 1 : in_flight,
               waiting_out = last + 1 == sizes_.layers() ? 1 : in_flight;
    const Wide crossing = std::max(waiting_in * in + out, in + waiting_out * out);
    const Wide working =
        request_.working_set_counted ? static_cast<Wide>(inner) * request_.samples : 0;
    const Wide caches =
        static_cast<Wide>(request_.one_device ? sizes_.cached(0, sizes_.layers() - 1)
                                              : sizes_.cached(first, last)) *
        request_.cached_samples;
    return weights(first, last) + caches + crossing + working <= *request_.device.memory().capacity;
  }

  const CutRequest& request_;
  Sizes sizes_;
  double load_bandwidth_;        ///< bytes per second
  std::vector<double> elapsed_;  ///< seconds of all earlier layers, for one micro-batch
};

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const auto end = static_cast<std::uint32_t>(request.model.layers.size()) - 1;
  if (request.state_bytes)
    fail_at(parameters.map(),
            "the cut by_time is only for inference; use another cut for training");
  if (!request.device.memory().capacity) return {end};
  const Divider divider(request);
  Division best;
  if (!parameters.is_word("in_flight", "auto")) {
    best = divider.divide(std::min(parameters.integer("in_flight"), request.micro_batches));
  } else {
    for (std::int64_t passes = 1;; passes += std::max<std::int64_t>(1, passes / 2)) {
      const std::int64_t in_flight =
          std::max<std::int64_t>(1, (request.micro_batches + passes - 1) / passes);
      Division found = divider.divide(in_flight);
      if (found.seconds < best.seconds) best = std::move(found);
      if (in_flight == 1) break;
    }
  }
  if (best.last.empty())
    throw Infeasible(
        "the cut by_time finds no stages that fit into device '" + request.device.name + "' of " +
            std::to_string(*request.device.memory().capacity) +
            " B: one layer with its input, output and workspace needs more. To split large layers into "
            "parts, use 'stages: {cut: by_weight, groups: 8}'",
        {.pool = request.device.name, .available_bytes = *request.device.memory().capacity});
  return best.last;
}

}  // namespace

extern const Cut by_time_cut = {
    .name = "by_time",
    .summary =
        "Makes the stages with the least total time, for a device that loads the weights of one stage after the "
        "other. The time of a stage is the longer of two times: its computation of all micro-batches in flight, and "
        "the load of its weights. Each stage fits into the device's memory.",
    .details =
        "Use this cut for streamed weights when some layers have many weights and other layers "
        "have much computation. The seconds of a stage are estimated from the cost model and the "
        "link. A search finds the best cut together with the best number of micro-batches in flight. "
        "The search adds up the seconds of the single stages, so a simulated run may take more or "
        "less time. The stages are different for different machines.",
    .source =
        "a dynamic programme over cuts and numbers of passes; the estimate of a group's seconds is from the document "
        "'AlexNet on one card'",
    .example = "sluice run alexnet_x200 stages=by_time",
    .parameters = {Key::integer(
                       "in_flight",
                       "the number of micro-batches that run through a stage after each load "
                       "of its weights; auto: the number with the least total time")
                       .by_default("auto")
                       .or_words({"auto"})
                       .between(1, 1e9)},
    .last_layers = last_layers,
};

}  // namespace sluice
