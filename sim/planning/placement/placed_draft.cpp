#include "planning/placement/placed_draft.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/gap.hpp"
#include "placement/ways.hpp"
#include "planning/placement/placed_listing.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {
namespace {

/// The number of tries of one search. The search uses no branch and bound, because it runs for many sizes.
constexpr std::size_t tries = 300;

/// Returns the sizes of fast memory for which a placement is searched. They are multiples of an equal share of the
/// needed bytes, up to the room of the device. The shares are smaller if there are few kernels. So a device with more
/// room chooses from more placements, and no run becomes slower.
std::vector<std::int64_t> sizes_within(const PlacementQuestion& question, std::int64_t room) {
  const std::int64_t needed = question.peak();
  const std::int64_t count = std::clamp<std::int64_t>(16'000 / question.kernel_count(), 16, 64);
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = count; n >= 0; --n) {
    // The product needed * n could overflow, so it is avoided.
    const std::int64_t size = needed / count * n + needed % count * n / count;
    if (size <= room && (sizes.empty() || size < sizes.back())) sizes.push_back(size);
  }
  return sizes;
}

/// Finds the placement whose run is fastest.
class PlacementChoice {
 public:
  PlacementChoice(const PolicyRequest& request, const CommonParameters& common,
                  const std::string& policy, const std::string& way)
      : request_(request), common_(common), policy_(policy), way_(way) {}

  void consider(const PlacedQuestion& asked) {
    for (const std::int64_t size : sizes_within(asked.question(), asked.room())) {
      const Optimum found = placed(asked.question(), size);
      // No placement for a smaller size is faster than this bound.
      if (at_least(asked, found.bound) >= seconds_) return;
      list(asked, found);
      if (way_ == "all_slow") return;  // The placement all_slow is the same for all sizes.
    }
  }

  Draft best() {
    if (best_) return std::move(*best_);
    throw InternalError("everything can lie in slow memory, and no placement was found");
  }

 private:
  /// Returns a lower bound of the seconds of a run, whose kernels run one after the other.
  static double at_least(const PlacedQuestion& asked, double kernels_s) {
    return (1 - 1e-9) * kernels_s * static_cast<double>(asked.rounds());
  }

  Optimum placed(const PlacementQuestion& question, std::int64_t size) const {
    if (way_ == "static")
      return optimum(
          {.question = question, .capacity = size, .moves = false, .tries = tries, .nodes = 0});
    const PlacementResult result = place_by_all(question, {size}, {way_}, 0).front();
    if (!result.refused.empty()) throw Infeasible(result.refused);
    return {.placing = result.schedule->placing, .seconds = result.predicted_s};
  }

  void list(const PlacedQuestion& asked, const Optimum& found) {
    if (at_least(asked, found.seconds) >= seconds_) return;
    Draft draft = list_placed({request_, common_, policy_, asked, found.placing});
    draft.plan.facts.insert(draft.plan.facts.begin(), Fact("placement", way_));
    if (way_ == "static")
      draft.plan.facts.emplace_back("placement_gap", gap_of(found.seconds, found.bound), "1");
    const double seconds = run_seconds(finish(draft, request_));
    if (best_ && seconds >= seconds_) return;
    best_ = std::move(draft);
    seconds_ = seconds;
  }

  const PolicyRequest& request_;
  const CommonParameters& common_;
  const std::string &policy_, &way_;
  std::optional<Draft> best_;
  double seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace

const std::vector<std::string>& placements_of_plans() {
  static const std::vector<std::string> ways = {"static", "first_touch", "all_slow"};
  return ways;
}

void require_placeable(const PolicyRequest& request, const CommonParameters& common) {
  PlacedQuestion(request, common, "", {});
}

Draft placed_draft(const PolicyRequest& request, const CommonParameters& common,
                   const std::string& policy, const std::string& way) {
  PlacementChoice choice(request, common, policy, way);
  const PlacedQuestion free(request, common, policy, {});
  choice.consider(free);
  // The search does not know how long a load takes. It also does not know that other tensors may save more time in the
  // room that inputs and answers in transfer need. So runs are also tried in which inputs, or inputs and answers, may
  // not be in fast memory.
  for (const PlacedQuestion::SlowOnlyKinds slow_only :
       {PlacedQuestion::SlowOnlyKinds{.inputs = true}, {.inputs = true, .answers = true}})
    if (slow_only.answers ? free.has_answers() : free.has_inputs())
      choice.consider({request, common, policy, slow_only});
  return choice.best();
}

}  // namespace sluice
