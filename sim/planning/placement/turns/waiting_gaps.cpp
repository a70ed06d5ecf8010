#include "planning/placement/turns/waiting_gaps.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "planning/copy_time.hpp"
#include "planning/placement/turns/plan_walk.hpp"
#include "planning/placement/turns/unlisted.hpp"

namespace sluice {
namespace {

/// How many sets of gaps are chosen at most. With each further set, the first memories need fewer bytes.
constexpr std::size_t most_choices = 4;
/// Approximately the most additions with which gaps are chosen on a device. In a long round, several tensors leave at
/// the same moment, so that the choice takes no longer.
constexpr std::size_t most_additions = 2'000'000;

/// Returns whether a tensor of a micro-batch may wait in the second memory.
bool may_wait(TensorClass tensor_class, bool sums_gradients) {
  return tensor_class == TensorClass::activation || tensor_class == TensorClass::input ||
         tensor_class == TensorClass::output ||
         (tensor_class == TensorClass::gradient && !sums_gradients);
}

/// Returns whether a tensor that stays on the device during the whole run may wait in the second memory.
bool may_wait_each_round(TensorClass tensor_class, bool sums_gradients) {
  return tensor_class == TensorClass::optimizer ||
         (tensor_class == TensorClass::gradient && !sums_gradients);
}

}  // namespace

/// The computations of a round that use a tensor in the first memory, in listing order.
struct WaitingGaps::Life {
  std::vector<std::uint32_t> users;
  /// A transfer of the tensor is listed after the first `used` of the users. So these users and the transfer find the
  /// tensor where it was made.
  std::size_t used = 0;
  bool known = true;  ///< whether all users use the tensor of the same iteration

  void use(std::uint32_t action) {
    if (users.empty() || users.back() != action) users.push_back(action);
  }
};

WaitingGaps::WaitingGaps(PlacedPrices& prices, const PlacedKinds& placed, const Plan& plan,
                         CopyMode mode)
    : prices_(prices), placed_(placed), plan_(plan), mode_(mode) {
  find_computations();
  find_passing();
  find_staying();
}

void WaitingGaps::find_computations() {
  const Platform& platform = prices_.request().pricing.platform;
  for (std::size_t d = 0; d < prices_.devices().size(); ++d) {
    const Device& device = *prices_.devices()[d];
    const CopyTime copy =
        copy_time(platform, device.memories[1].pool, device.memories[0].pool, mode_);
    OfDevice of{placed_.first_pool(d), {}, {0}, copy.setup_s + copy.latency_s, copy.bandwidth};
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a) {
      const Action& action = plan_.actions[a];
      if (action.is_transfer() || plan_.streams[action.stream].device != device.name) continue;
      of.computations.push_back(a);
      of.starts.push_back(of.starts.back() + action.seconds);
    }
    devices_.push_back(std::move(of));
  }
}

std::size_t WaitingGaps::position(std::size_t device, std::uint32_t computation) const {
  const std::vector<std::uint32_t>& all = devices_[device].computations;
  return static_cast<std::size_t>(std::ranges::lower_bound(all, computation) - all.begin());
}

void WaitingGaps::find_passing() {
  std::map<std::pair<std::uint32_t, std::size_t>, Life> lives;  // by tensor and device
  const auto device_of = [&](std::uint32_t pool) {
    return static_cast<std::size_t>(std::ranges::find(devices_, pool, &OfDevice::first) -
                                    devices_.begin());
  };
  const auto life_of = [&](std::uint32_t tensor, std::uint32_t pool) -> Life* {
    const TensorClass tensor_class = plan_.tensors[tensor].tensor_class;
    if (!may_wait(tensor_class, prices_.request().sums_gradients)) return nullptr;
    const std::size_t d = device_of(pool);
    return d < devices_.size() ? &lives[{tensor, d}] : nullptr;
  };
  // A computation of another device may use a tensor in this memory. The order of the two devices' computations is not
  // known, so such a tensor does not wait.
  const auto computes_here = [&](const Action& action, std::uint32_t pool) {
    return plan_.streams[action.stream].device == prices_.devices()[device_of(pool)]->name;
  };
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
    const Action& action = plan_.actions[a];
    const bool body = plan_.section_of(a) == Section::body;
    for (const Placement& made : action.allocates)
      if (Life* life = life_of(made.tensor, made.pool)) {
        if (body && !action.is_transfer()) life->use(a);
        life->known = life->known && (action.is_transfer() || (body && action.ahead == 0 &&
                                                               computes_here(action, made.pool)));
      }
    for (const Access& use : action.uses)
      if (Life* life = life_of(use.tensor, use.pool)) {
        if (action.is_transfer())
          life->used = life->users.size();
        else
          life->use(a);
        life->known = life->known && body && action.ahead == 0 &&
                      (action.is_transfer() || computes_here(action, use.pool));
      }
  }
  for (const auto& [where, life] : lives)
    if (life.known) add_gaps(where.first, where.second, life);
}

void WaitingGaps::add_gaps(std::uint32_t tensor, std::size_t device, const Life& life) {
  for (std::size_t u = std::max<std::size_t>(life.used, 1); u < life.users.size(); ++u)
    add({.tensor = tensor,
         .device = device,
         .leaves_after = life.users[u - 1],
         .needed_by = life.users[u]});
}

void WaitingGaps::find_staying() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    std::map<std::uint32_t, Life> lives;  // by tensor
    for (std::uint32_t a = 0; a < plan_.body_begin; ++a)
      for (const Placement& made : plan_.actions[a].allocates)
        if (made.pool == devices_[d].first &&
            may_wait_each_round(plan_.tensors[made.tensor].tensor_class,
                                prices_.request().sums_gradients))
          lives[made.tensor];
    if (lives.empty()) continue;
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
      for (const Access& use : plan_.actions[a].uses)
        if (use.pool == devices_[d].first) lives.erase(use.tensor);
    const auto unlisted = unlisted_operands(plan_, devices_[d].first, prices_);
    for (const std::uint32_t a : devices_[d].computations)
      for (const Placement& one : unlisted[a])
        if (const auto life = lives.find(one.tensor); life != lives.end()) life->second.use(a);
    for (const auto& [tensor, life] : lives)
      if (!life.users.empty())
        add({.tensor = tensor,
             .device = d,
             .leaves_after = life.users.back(),
             .needed_by = life.users.front(),
             .stays = true});
  }
}

/// Adds the gap if other computations run in it before the tensor begins to come back.
void WaitingGaps::add(WaitingGap gap) {
  const OfDevice& device = devices_[gap.device];
  const std::size_t leaves = position(gap.device, gap.leaves_after),
                    needed = position(gap.device, gap.needed_by);
  const std::vector<double>& starts = device.starts;
  gap.seconds = starts[needed] - starts[leaves + 1] + (gap.stays ? starts.back() : 0);
  gap.back_before = gap.needed_by;
  if (mode_ == CopyMode::asynchronous) {
    const double copy_s =
        device.copy_back_setup_s +
        static_cast<double>(plan_.tensors[gap.tensor].bytes) / device.copy_back_rate;
    const std::size_t first = gap.stays ? 0 : leaves + 1;
    std::size_t after = needed;  // the copy begins after the computation before this one
    while (after > first && starts[needed] - starts[after] < copy_s) --after;
    gap.back_before = after == 0 ? plan_.body_begin : device.computations[after - 1] + 1;
    gap.back_after =
        after == 0 ? Wait{device.computations.back(), 1} : Wait{device.computations[after - 1], 0};
  }
  const bool others = gap.stays ? needed > 0 || leaves + 1 < device.computations.size()
                                : gap.back_before > device.computations[leaves] + 1 &&
                                      device.computations[leaves + 1] < gap.back_before;
  if (others && plan_.tensors[gap.tensor].bytes > 0) gaps_.push_back(gap);
}

/// Returns the bytes in the first memory during each action of the body, if the actions run in listing order.
std::vector<std::int64_t> WaitingGaps::levels(std::size_t device) const {
  const std::uint32_t pool = devices_[device].first;
  std::vector<std::int64_t> most(plan_.body_end - plan_.body_begin, 0);
  const Plan few = with_iterations(plan_, std::min<std::int64_t>(plan_.iterations, 3));
  std::int64_t level = 0;
  for (const Tensor& tensor : plan_.tensors)
    if (tensor.home == pool) level += tensor.bytes;
  PlanWalk(few).through([&](const PlanWalk::Execution& execution) {
    for (const Placement& made : plan_.actions[execution.action].allocates)
      if (made.pool == pool) level += plan_.tensors[made.tensor].bytes;
    if (plan_.section_of(execution.action) == Section::body) {
      std::int64_t& at = most[execution.action - plan_.body_begin];
      at = std::max(at, level);
    }
    for (const PlanWalk::Instance& freed : execution.freed)
      if (freed.placement.pool == pool) level -= plan_.tensors[freed.placement.tensor].bytes;
    return true;
  });
  return most;
}

/// Adds to each choice the gaps of this device.
void WaitingGaps::add_choices(std::size_t device, std::vector<Choice>& all) const {
  std::vector<std::int64_t> level = levels(device);
  std::vector<std::size_t> open, order;
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    if (gaps_[g].device == device) open.push_back(g);
  std::ranges::stable_sort(
      open, [&](std::size_t a, std::size_t b) { return gaps_[a].seconds > gaps_[b].seconds; });
  const std::size_t at_once = 1 + open.size() * (level.size() + open.size()) / most_additions;
  const auto covers = [&](std::size_t g, std::uint32_t a) {
    const WaitingGap& gap = gaps_[g];
    return gap.stays ? a > gap.leaves_after || a < gap.back_before
                     : a > gap.leaves_after && a < gap.back_before;
  };
  std::vector<std::pair<std::int64_t, std::size_t>> peaks;  // with the first n gaps in `order`
  for (bool more = !level.empty(); more;) {
    const auto worst = std::ranges::max_element(level);
    if (peaks.empty() || *worst < peaks.back().first) peaks.push_back({*worst, order.size()});
    const std::uint32_t moment =
        plan_.body_begin + static_cast<std::uint32_t>(worst - level.begin());
    more = false;
    for (std::size_t n = 0; n < at_once; ++n) {
      const auto gap = std::ranges::find_if(open, [&](std::size_t g) { return covers(g, moment); });
      if (gap == open.end()) break;
      for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
        if (covers(*gap, a)) level[a - plan_.body_begin] -= plan_.tensors[gaps_[*gap].tensor].bytes;
      order.push_back(*gap);
      open.erase(gap);
      more = true;
    }
  }
  const std::int64_t most = peaks.empty() ? 0 : peaks.front().first,
                     saved = peaks.empty() ? 0 : most - peaks.back().first;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const double share = static_cast<double>(c + 1) / static_cast<double>(all.size());
    const auto enough = std::ranges::find_if(peaks, [&](const auto& peak) {
      return static_cast<double>(most - peak.first) >= share * static_cast<double>(saved);
    });
    const std::size_t count = enough == peaks.end() ? 0 : enough->second;
    all[c].gaps.insert(all[c].gaps.end(), order.begin(),
                       order.begin() + static_cast<std::ptrdiff_t>(count));
    all[c].bytes.push_back(enough == peaks.end() ? 0 : enough->first);
  }
}

std::vector<WaitingGaps::Choice> WaitingGaps::choices() const {
  std::vector<Choice> all(most_choices);
  for (std::size_t d = 0; d < devices_.size(); ++d) add_choices(d, all);
  std::erase_if(all, [](const Choice& choice) { return choice.gaps.empty(); });
  const auto same = [](const Choice& a, const Choice& b) { return a.gaps == b.gaps; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

}  // namespace sluice
