// Says which sets of tensors that stay on the device are tried in training, and reads the set that a scenario gives.
#include "planning/training/staying.hpp"

#include <algorithm>
#include <array>

#include "planning/streaming/residency.hpp"
#include "planning/training/orders.hpp"

namespace sluice {

namespace {

/// The shares of the bytes that stay are tried in multiples of 1 / 8.
constexpr std::int64_t shares_that_stay = 8;

constexpr StayingTensors weights_stay_only{.weights = true};
constexpr StayingTensors sums_stay{.weights = true, .gradients = true};
constexpr StayingTensors state_stays{.weights = true, .optimizer = true};

/// A way to fill the device: some stages keep the tensors `more`, and all other stages keep only the tensors `less`.
struct Level {
  StayingTensors less, more;
  std::int64_t step = 2;  ///< the shares that are tried are multiples of `step` / 8
};

/// The levels that are tried. In the first level, the tensors of a stage stay together. The other levels let those
/// tensors stay first that save the most seconds per byte. Consider a batch with p passes. Weights are loaded about 2 p
/// times and saved once. Sums of gradients are loaded and saved p - 1 times. Optimizer state is loaded and saved once.
/// So weights come first. Sums come next if there are several passes, and optimizer state comes last.
constexpr std::array<Level, 5> levels = {{{{}, all_stay, 1},
                                          {{}, weights_stay_only},
                                          {weights_stay_only, sums_stay},
                                          {sums_stay, all_stay},
                                          {weights_stay_only, state_stays}}};

/// Returns the bytes of the tensors of a stage that stay.
double bytes_of(const PolicyRequest& request, const Stage& stage, const StayingTensors& stays) {
  const Training& training = *request.workload.training;
  const std::int64_t weights = stage.weight_bytes;
  double bytes = 0;
  if (stays.weights) bytes += static_cast<double>(weights);
  if (stays.gradients) bytes += static_cast<double>(training.gradient_bytes(weights));
  if (stays.optimizer) bytes += static_cast<double>(training.optimizer_bytes(weights));
  return bytes;
}

/// Returns, indexed by stage, which tensors stay if `share` / 8 of the bytes of a level should stay. Goes through the
/// stages, and lets a stage keep more whenever the bytes that stay so far are too few by half of the bytes of this stage.
std::vector<StayingTensors> spread(const PolicyRequest& request, const Level& level,
                                   std::int64_t share) {
  const double part = static_cast<double>(share) / static_cast<double>(shares_that_stay);
  std::vector<StayingTensors> staying;
  double missing = 0;
  for (const Stage& stage : request.pricing.stages) {
    const double bytes =
        bytes_of(request, stage, level.more) - bytes_of(request, stage, level.less);
    missing += part * bytes;
    const bool more = bytes > 0 && missing >= bytes / 2;
    staying.push_back(more ? level.more : level.less);
    if (more) missing -= bytes;
  }
  return staying;
}

/// Returns the stages for which `stays` holds as a scenario writes them, for example "2, 4..6".
std::string stages_text(const std::vector<StayingTensors>& staying, bool StayingTensors::* stays) {
  std::string text;
  for (std::size_t s = 0, next = 0; s < staying.size(); s = next + 1) {
    for (next = s; next < staying.size() && staying[next].*stays;) ++next;
    if (next == s) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(s + 1);
    if (next > s + 1) text += ".." + std::to_string(next);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<TrainingOrder> orders_that_stay(const PolicyRequest& request,
                                            const TrainingOrder& order) {
  std::vector<TrainingOrder> orders;
  if (!order.staying_open || weights_stay(request, order)) return orders;
  for (const Level& level : levels)
    for (std::int64_t share = shares_that_stay; share > 0; share -= level.step) {
      TrainingOrder stays = order;
      stays.staying = spread(request, level, share);
      const bool again =
          std::ranges::find(orders, stays.staying, &TrainingOrder::staying) != orders.end();
      if (!again && std::ranges::count(stays.staying, true, &StayingTensors::weights) > 0)
        orders.push_back(std::move(stays));
    }
  return orders;
}

// An order in which all tensors of some stages stay, and no tensors of other stages, is tried with any number of passes:
// `resident` alone can name these stages.
bool tried_with_passes(const TrainingOrder& order, std::int64_t passes) {
  const StayingTensors& untried = passes == 1 ? sums_stay : state_stays;
  return std::ranges::find(order.staying, untried) == order.staying.end();
}

bool staying_fits(const PolicyRequest& request, const TrainingOrder& order) {
  const std::optional<std::int64_t> capacity = smallest_capacity(request, order);
  if (!capacity) return true;
  double bytes = 0;
  for (std::size_t s = 0; s < order.staying.size(); ++s)
    bytes += bytes_of(request, request.pricing.stages[s], order.staying[s]);
  return bytes <= static_cast<double>(*capacity);
}

std::string staying_text(const std::vector<StayingTensors>& staying) {
  const std::string weights = stages_text(staying, &StayingTensors::weights);
  std::string text = "resident: " + weights;
  for (const auto& [key, stays] : {std::pair("resident_gradients", &StayingTensors::gradients),
                                   std::pair("resident_optimizer", &StayingTensors::optimizer)})
    if (const std::string stages = stages_text(staying, stays); stages != weights)
      text += std::string(", ") + key + ": " + stages;
  return text;
}

std::optional<std::vector<StayingTensors>> staying_keys(const Reader& parameters,
                                                        const PolicyRequest& request) {
  const std::vector<Stage>& stages = request.pricing.stages;
  const ResidentKey weights = resident_key(parameters, stages, request.cut_open);
  std::optional<std::vector<StayingTensors>> staying;
  if (weights.stays) {
    staying.emplace();
    for (const bool stays : *weights.stays) staying->push_back(stays ? all_stay : StayingTensors());
  }
  for (const auto& [key, stays] : {std::pair("resident_gradients", &StayingTensors::gradients),
                                   std::pair("resident_optimizer", &StayingTensors::optimizer)}) {
    const ResidentKey named = resident_key(parameters, stages, request.cut_open, key);
    if (!named.stays) continue;
    if (!staying)
      parameters.fail(key, "'" + std::string(key) + "' needs the key 'resident', which names the "
                           "stages whose weights stay");
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if ((*named.stays)[s] && !(*staying)[s].weights && !parameters.is_word(key, "all"))
        parameters.fail(key, "'" + std::string(key) + "' names stage " + std::to_string(s + 1) +
                                 " (" + stages[s].name +
                                 "), whose weights do not stay: add the stage to 'resident'");
      (*staying)[s].*stays = (*staying)[s].weights && (*named.stays)[s];
    }
  }
  return staying;
}

}  // namespace sluice
