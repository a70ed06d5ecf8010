// Says which sets of tensors that stay on the device are tried in training, and reads the set that a scenario gives.
#include "planning/training/staying.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "planning/equal_replicas.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/streaming/residency.hpp"
#include "planning/training/orders.hpp"

namespace sluice {

namespace {

/// One of the tensors of StayingTensors.
using Part = bool StayingTensors::*;
constexpr Part weights = &StayingTensors::weights, gradients = &StayingTensors::gradients,
               optimizer = &StayingTensors::optimizer;

/// Returns the bytes of these parts of a stage.
double bytes_of(const PolicyRequest& request, const Stage& stage, const std::vector<Part>& parts) {
  const Training& training = *request.workload.training;
  double bytes = 0;
  for (const Part part : parts) {
    if (part == weights) bytes += static_cast<double>(stage.weight_bytes);
    if (part == gradients)
      bytes += static_cast<double>(training.gradient_bytes(stage.weight_bytes));
    if (part == optimizer)
      bytes += static_cast<double>(training.optimizer_bytes(stage.weight_bytes));
  }
  return bytes;
}

/// The stages that choose together which of their tensors stay: those on one of the devices that take turns.
struct DeviceStages {
  const PolicyRequest& request;
  std::size_t device = 0, devices = 1;

  template <class Use>
  void each(const Use& use) const {
    for (std::size_t s = device; s < request.pricing.stages.size(); s += devices)
      use(s, request.pricing.stages[s]);
  }
};

/// Lets `parts` stay in stages that have about this share of the bytes of `parts`. Goes through the stages, and lets
/// the parts of a stage stay whenever the bytes that stay so far are too few by half of the bytes of this stage.
void spread(const DeviceStages& stages, const std::vector<Part>& parts, double share,
            std::vector<StayingTensors>& staying) {
  double missing = 0;
  stages.each([&](std::size_t s, const Stage& stage) {
    const double bytes = bytes_of(stages.request, stage, parts);
    missing += share * bytes;
    if (bytes == 0 || missing < bytes / 2) return;
    for (const Part part : parts) staying[s].*part = true;
    missing -= bytes;
  });
}

/// Lets the weights of the largest stages stay: just enough stages for this share of the bytes of all weights.
void keep_largest(const DeviceStages& stages, double share, std::vector<StayingTensors>& staying) {
  std::vector<std::pair<double, std::size_t>> sizes;
  stages.each([&](std::size_t s, const Stage& stage) {
    sizes.emplace_back(bytes_of(stages.request, stage, {weights}), s);
  });
  std::ranges::stable_sort(sizes, std::greater(), &std::pair<double, std::size_t>::first);
  double left = 0;
  for (const auto& [size, s] : sizes) left += share * size;
  for (const auto& [size, s] : sizes) {
    if (left <= 0) return;
    staying[s].weights = true;
    left -= size;
  }
}

/// Lets these tensors of the first stage with weights stay.
void keep_first(const DeviceStages& stages, StayingTensors stays,
                std::vector<StayingTensors>& staying) {
  bool found = false;
  stages.each([&](std::size_t s, const Stage& stage) {
    if (!found && stage.weight_bytes > 0) staying[s] = stays;
    found = found || stage.weight_bytes > 0;
  });
}

/// Lets `share` of the bytes of `parts` stay. Parts that come first in `parts` stay first, in all stages.
void fill(const DeviceStages& stages, const std::vector<Part>& parts, double share,
          std::vector<StayingTensors>& staying) {
  std::vector<double> bytes;
  for (const Part part : parts) {
    bytes.push_back(0);
    stages.each([&](std::size_t, const Stage& stage) {
      bytes.back() += bytes_of(stages.request, stage, {part});
    });
  }
  double left = share * std::accumulate(bytes.begin(), bytes.end(), 0.0);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > 0 && left > 0)
      spread(stages, {parts[i]}, std::min(1.0, left / bytes[i]), staying);
    left -= bytes[i];
  }
}

/// Returns the tensors besides the weights for which time is saved if they stay, in the order of the seconds that are
/// saved per byte. Consider a batch with p passes. Weights are loaded about 2 p times and saved once. Sums of gradients
/// are loaded and saved p - 1 times, and once more if there is no update, because they are then the answer. Optimizer
/// state is loaded and saved once.
std::vector<Part> besides_weights(const PolicyRequest& request, bool one_pass) {
  if (!request.workload.training->optimizer->updates) return {gradients};
  return one_pass ? std::vector<Part>{optimizer} : std::vector<Part>{gradients, optimizer};
}

/// Returns the stages for which `stays` holds as a scenario writes them, for example "2, 4..6".
std::string stages_text(const std::vector<StayingTensors>& staying, Part stays) {
  std::string text;
  for (std::size_t s = 0, next = 0; s < staying.size(); s = next + 1) {
    for (next = s; next < staying.size() && staying[next].*stays;) ++next;
    if (next == s) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(s + 1);
    if (next > s + 1) text += ".." + std::to_string(next);
  }
  return text.empty() ? "none" : text;
}

/// Collects orders with different sets of tensors that stay.
class OrdersThatStay {
 public:
  OrdersThatStay(const PolicyRequest& request, const TrainingOrder& order)
      : request_(request), order_(order) {}

  /// Adds an order. For each device, `choose(stages, staying)` says which tensors of its stages stay.
  template <class Choose>
  void add(const Choose& choose, std::optional<bool> one_pass = {}, bool searched = true) {
    const std::vector<Stage>& stages = request_.pricing.stages;
    TrainingOrder stays = order_;
    stays.one_pass = one_pass;
    stays.searched = searched;
    stays.staying.assign(stages.size(), {});
    for (std::size_t d = 0; d < order_.devices.size(); ++d)
      choose(DeviceStages{request_, d, order_.devices.size()}, stays.staying);
    // Without optimizer state, a stage whose gradients stay has no other tensors that could take turns.
    for (std::size_t s = 0; s < stages.size(); ++s)
      if (bytes_of(request_, stages[s], {optimizer}) == 0)
        stays.staying[s].optimizer = stays.staying[s].gradients;
    const bool again = std::ranges::any_of(orders_, [&](const TrainingOrder& known) {
      return known.staying == stays.staying && (!known.one_pass || known.one_pass == one_pass);
    });
    if (!again && std::ranges::count(stays.staying, true, weights) > 0)
      orders_.push_back(std::move(stays));
  }

  /// Adds an order for which no strategy makes a search: a search for each set would take too long.
  template <class Choose>
  void add_without_search(const Choose& choose) {
    add(choose, {}, /*searched=*/false);
  }

  std::vector<TrainingOrder> orders() && { return std::move(orders_); }

 private:
  const PolicyRequest& request_;
  const TrainingOrder& order_;
  std::vector<TrainingOrder> orders_;
};

}  // namespace

// First come the sets in which all tensors of a stage stay together. In the other sets, weights stay first.
std::vector<TrainingOrder> orders_that_stay(const PolicyRequest& request,
                                            const TrainingOrder& order) {
  if (!order.staying_open || weights_stay(request, order)) return {};
  OrdersThatStay orders(request, order);
  const auto each_share = [&](std::int64_t shares, const auto& use) {
    for (std::int64_t share = shares; share > 0; --share)
      use(static_cast<double>(share) / static_cast<double>(shares));
  };
  each_share(8, [&](double share) {
    orders.add([&](const DeviceStages& own, auto& together) {
      spread(own, {weights, gradients, optimizer}, share, together);
    });
  });
  each_share(4, [&](double share) {
    orders.add([&](const DeviceStages& own, auto& some) { spread(own, {weights}, share, some); });
  });
  for (const bool one_pass : {true, false})
    each_share(4, [&](double share) {
      orders.add(
          [&](const DeviceStages& own, auto& more) {
            spread(own, {weights}, 1, more);
            fill(own, besides_weights(request, one_pass), share, more);
          },
          one_pass);
    });
  // No computation hides the copies with which a step begins and ends. They belong to the first weights.
  orders.add([](const DeviceStages& own, auto& first) { keep_first(own, all_stay, first); });
  orders.add_without_search(
      [](const DeviceStages& own, auto& first) { keep_first(own, {.weights = true}, first); });
  // A run begins with the loads of all weights that stay. So it may be faster if small weights are not among them.
  for (const double share : {0.875, 0.75, 0.5})
    orders.add_without_search(
        [&](const DeviceStages& own, auto& large) { keep_largest(own, share, large); });
  // All tensors of a device may fit into its memory, although those of another device do not.
  const std::size_t several = devices_differ(request, order) ? order.devices.size() : 0;
  for (std::size_t one = 0; one < several; ++one)
    for (const bool on_one : {true, false})
      for (const double rest : {0.5, 0.0})
        orders.add_without_search([&](const DeviceStages& own, auto& some) {
          const double share = (own.device == one) == on_one ? 1 : rest;
          spread(own, {weights, gradients, optimizer}, share, some);
        });
  return std::move(orders).orders();
}

bool one_of_many(const TrainingOrder& order) {
  return order.staying_open && !order.staying.empty();
}

bool tried_with_passes(const TrainingOrder& order, std::int64_t passes) {
  return !order.one_pass || *order.one_pass == (passes == 1);
}

bool staying_fits(const PolicyRequest& request, const TrainingOrder& order) {
  const DeviceBytes memories = capacities(request, order);
  std::vector<double> bytes(order.devices.size(), 0);
  for (std::size_t s = 0; s < order.staying.size(); ++s)
    for (const Part part : {weights, gradients, optimizer})
      if (order.staying[s].*part)
        bytes[s % bytes.size()] += bytes_of(request, request.pricing.stages[s], {part});
  for (std::size_t d = 0; d < bytes.size(); ++d)
    if (bytes[d] > static_cast<double>(memories[d])) return false;
  return true;
}

std::string staying_text(const std::vector<StayingTensors>& staying) {
  const std::string all = stages_text(staying, weights);
  std::string text = "resident: " + all;
  for (const auto& [key, part] :
       {std::pair("resident_gradients", gradients), std::pair("resident_optimizer", optimizer)})
    if (const std::string stages = stages_text(staying, part); stages != all)
      text += std::string(", ") + key + ": " + stages;
  return text;
}

std::optional<std::vector<StayingTensors>> staying_keys(const Reader& parameters,
                                                        const PolicyRequest& request) {
  const std::vector<Stage>& stages = request.pricing.stages;
  const ResidentKey resident = resident_key(parameters, stages, request.cut_open);
  std::optional<std::vector<StayingTensors>> staying;
  if (resident.stays) {
    staying.emplace();
    for (const bool stays : *resident.stays)
      staying->push_back(stays ? all_stay : StayingTensors());
  }
  for (const auto& [key, part] :
       {std::pair("resident_gradients", gradients), std::pair("resident_optimizer", optimizer)}) {
    const ResidentKey named = resident_key(parameters, stages, request.cut_open, key);
    if (!named.stays) continue;
    if (!staying)
      parameters.fail(key, "'" + std::string(key) +
                               "' needs the key 'resident', which names the "
                               "stages whose weights stay");
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if ((*named.stays)[s] && !(*staying)[s].weights && !parameters.is_word(key, "all"))
        parameters.fail(key, "'" + std::string(key) + "' names stage " + std::to_string(s + 1) +
                                 " (" + stages[s].name +
                                 "), whose weights do not stay: add the stage to 'resident'");
      (*staying)[s].*part = (*staying)[s].weights && (*named.stays)[s];
    }
  }
  return staying;
}

void read_staying(const Reader& parameters, const PolicyRequest& request, TrainingOrder& order) {
  const auto staying = staying_keys(parameters, request);
  if (staying) order.staying = *staying;
  const bool fixed = order.in_flight && request.fates && !request.fates_open && !request.cut_open;
  // How long a replica waits for sums of gradients depends on the tensors that stay. Only a run of all replicas shows
  // it.
  const bool counts_sums =
      !request.sums_gradients || (request.replicas && request.replicas->judged_together);
  order.staying_open = !staying && !fixed && counts_sums && !asks_for_turns(request);
}

}  // namespace sluice
