#include "planning/streaming/fit.hpp"

#include <algorithm>
#include <limits>

#include "base/bisection.hpp"
#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/deadlock.hpp"
#include "execute/feasibility.hpp"
#include "execute/shortage.hpp"
#include "planning/draft.hpp"

namespace sluice {

StreamedFit::StreamedFit(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedChoice& choice)
    : request_(request),
      common_(common),
      bytes_(streamed_bytes(request, choice.offload)),
      resident_(choice.resident),
      all_resident_(choice.resident_bytes()),
      caches_(cache_bytes(request)),
      per_step_(request.workload.micro_batches_per_step()),
      offload_(choice.offload && bytes_.size() > 1),
      capacity_(request.capacity_enforced ? common.device.memory().capacity : std::nullopt) {}

std::int64_t StreamedFit::weights_at(std::size_t g) const {
  return all_resident_ + bytes_[g].weights - (resident_.empty() ? 0 : resident_[g]);
}

/// Returns the bytes on the device while group `g` computes micro-batch `m` of a run, and no transfer runs. The run has
/// `count` micro-batches. If the bytes exceed 2^63 - 1, the result is 2^63 - 1.
std::int64_t StreamedFit::bytes_at(std::size_t g, std::int64_t m, std::int64_t count) const {
  const StageBytes& stage = bytes_[g];
  const bool last = g + 1 == bytes_.size();
  const std::int64_t inputs = g == 0 || offload_ ? 1 : count - m;
  const std::int64_t outputs = last || offload_ ? 1 : m + 1;
  __extension__ using Wide = __int128;  // the factors fit in 64 bits, the products may not
  const Wide bytes = static_cast<Wide>(inputs) * stage.input +
                     static_cast<Wide>(outputs) * stage.output +
                     static_cast<Wide>(count) * stage.around + stage.answer + weights_at(g) +
                     stage.workspace + caches_;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return bytes > most ? most : static_cast<std::int64_t>(bytes);
}

/// From each micro-batch of a run to the next, the bytes on the device (bytes_at()) change by the same number. So the
/// first or the last micro-batch has the most bytes.
std::int64_t StreamedFit::peak(std::int64_t in_flight) const {
  std::int64_t most = 0;
  for (std::size_t g = 0; g < bytes_.size(); ++g)
    most = std::max({most, bytes_at(g, 0, in_flight), bytes_at(g, in_flight - 1, in_flight)});
  return most;
}

/// Returns the largest number of micro-batches in flight that fits, but at least 1.
std::int64_t StreamedFit::most_in_flight() const {
  return largest_that_fits(1, per_step_ + 1, [&](std::int64_t count) {
    return !capacity_ || peak(count) <= *capacity_;
  });
}

std::string StreamedFit::group_text(std::size_t g, std::int64_t needed) const {
  const StageBytes& stage = bytes_[g];
  return "\n  group " + request_.pricing.stages[g].name + " needs " + bytes_text(needed) +
         ", and " + common_.device.name + " has " + format_bytes(*capacity_) + ": weights " +
         format_bytes(weights_at(g)) + (all_resident_ > 0 ? ", including those that stay" : "") +
         ", workspace " + format_bytes(stage.workspace) +
         (caches_ > 0 ? ", caches of all groups " + format_bytes(caches_) : "") +
         ", inputs and results of the group " +
         format_bytes(needed - weights_at(g) - stage.workspace - caches_);
}

void StreamedFit::require(std::int64_t in_flight, const Draft& draft) const {
  if (!capacity_ || peak(in_flight) <= *capacity_) return;
  std::string message = "does not fit: with " + std::to_string(in_flight) +
                        (in_flight == 1 ? " micro-batch in flight" : " micro-batches in flight");
  std::size_t worst = 0, beyond = 0;
  std::int64_t most_needed = 0;
  for (std::size_t g = 0; g < bytes_.size(); ++g) {
    const std::int64_t needed =
        std::max(bytes_at(g, 0, in_flight), bytes_at(g, in_flight - 1, in_flight));
    if (needed > *capacity_) ++beyond;
    if (needed > most_needed) worst = g, most_needed = needed;
  }
  message += group_text(worst, most_needed);
  if (beyond > 1) message += "\n  and " + std::to_string(beyond - 1) + " further groups do not fit";
  const std::int64_t most = most_in_flight();
  const bool any_fits = peak(most) <= *capacity_;
  if (!any_fits)
    message += caches_ > *capacity_
                   ? "\n  not even one micro-batch fits: the caches of all samples alone need more "
                     "memory than there is"
                   : "\n  not even one micro-batch fits with this cut: cut the model into smaller "
                     "stages";
  const Plan plan = finish(draft, request_);
  const auto blocking = blocks(plan);
  Shortage shortage{
      .pool = common_.device.name, .needed_bytes = peak(in_flight), .available_bytes = *capacity_};
  shortage.most_in_flight = any_fits ? most : 0;
  const auto part = [&](TensorClass tensor_class, std::int64_t count) {
    if (count > 0) shortage.by_class.emplace_back(name_of(tensor_class), count);
  };
  const std::int64_t known = weights_at(worst) + bytes_[worst].workspace + caches_;
  part(TensorClass::weight, weights_at(worst));
  part(TensorClass::workspace, bytes_[worst].workspace);
  part(TensorClass::kv_cache, caches_);
  part(TensorClass::activation, most_needed - known);
  if (blocking) shortage.waiters = shortage_of(plan, *blocking).waiters;
  throw Infeasible(message + (blocking ? "\n" + describe(plan, *blocking) : ""),
                   std::move(shortage));
}

}  // namespace sluice
