// Makes candidates for what a scenario of training leaves open: the number of micro-batches side by side, the stages
// whose weights stay on the device, and the bytes that early loads may use.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "planning/builder.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/batch_bytes.hpp"
#include "planning/training/larger_step.hpp"
#include "planning/training/late_loads.hpp"
#include "planning/training/load_offers.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/step_digest.hpp"
#include "planning/training/training.hpp"
#include "planning/training/tried_loads.hpp"
#include "planning/training/work_of_batches.hpp"

namespace sluice {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::string step_text(const PolicyRequest& request, const TrainingOrder& order,
                      const ChosenStep& step) {
  std::ostringstream text;
  text << order.policy << " " << *order.in_flight << " " << order.weights_stay << " "
       << (request.real_machine != nullptr) << " " << &request.pricing.model << " ";
  // A policy may make the list of stages anew for each request, so the address of the list says nothing.
  for (const Stage& stage : request.pricing.stages) text << stage.last << " ";
  text << step_digest(step.program());
  return text.str();
}

/// The ways to train with a given number of micro-batches side by side. They differ in the places of the loads.
class TrainingWays {
 public:
  /// `at_least` is a lower bound on the bytes that each device needs.
  TrainingWays(const PolicyRequest& request, TrainingOrder order, std::int64_t at_least,
               std::shared_ptr<const std::vector<Stage>> stages)
      : enforced_(request.capacity_enforced),
        capacity_(smallest_capacity(request, order)),
        unlimited_(request),
        order_(std::move(order)),
        at_least_(at_least),
        stages_(std::move(stages)) {
    unlimited_.capacity_enforced = false;
    // The run may use the whole memory only if no transfers share a link, because then more memory never makes an
    // action start later.
    if (!shares_links()) run_room_ = capacity_.value_or(no_limit);
  }

  /// Returns the greatest number of different ways, including those that do not fit.
  std::int64_t count() const {
    const std::size_t rooms = run_room_ ? 1 : 2;
    const auto ways_of = [](const TriedCounts& tried) {
      return tried.paces * (ahead_parts.size() + tried.listings);
    };
    std::size_t ways = ways_of(most_tried);
    for (const TriedLarger& larger : larger_steps(per_batch(), 0))
      if (LargerStep::larger_order(unlimited_, order_, larger.more)) ways += ways_of(larger.tried);
    return static_cast<std::int64_t>(rooms * ways);
  }

  /// Returns one candidate for all ways, or nothing if the step cannot fit. `at_least` is a lower bound of the
  /// candidate's seconds. The ways are listed only when the judge opens the candidate, because another strategy may
  /// already have had the same ways.
  static std::vector<Candidate> opened(const std::shared_ptr<const TrainingWays>& ways,
                                       double at_least) {
    if (!ways->fits(ways->at_least_)) return {};
    const auto step = std::make_shared<const ChosenStep>(ways->unlimited_, ways->order_);
    if (ways->enforced_ && !homes_fit(ways->unlimited_, step->program())) return {};
    return {{.at_least = std::max(at_least, step->at_least()),
             .open = [ways, step] { return listed(ways, step); },
             .same_ways = ways->description(*step)}};
  }

 private:
  /// Returns a candidate for each way that fits, but only one for ways that are equal as SeenWays defines it.
  static std::vector<Candidate> listed(const std::shared_ptr<const TrainingWays>& ways,
                                       const std::shared_ptr<const ChosenStep>& step) {
    std::vector<Candidate> candidates;
    for (const LoadChoice& way : ways->ways(*step))
      candidates.push_back({way.at_least, 1, [ways, step, way](double, const auto& settled) {
                              settled(settled_way(ways, step, way));
                            }});
    return candidates;
  }

  /// Returns a text that is the same for all strategies for fates that lead to the same step. In this text, the last
  /// layers of the stages stand for the cut.
  std::string description(const ChosenStep& step) const {
    return step_text(unlimited_, order_, step);
  }

  struct LoadChoice {
    ChosenStep::EarlyLoadLimits limits;
    /// How many micro-batches more the step has whose limits lead to the places of the loads.
    std::int64_t more = 0;
    double at_least = 0;
    /// The places of the loads. Null if the limits lead to these places for the step itself.
    std::shared_ptr<const std::vector<LoadPlace>> places = {};
    /// Whether a way that was found earlier has the same places of loads. The runs of the two ways stay within
    /// different numbers of bytes.
    bool listed_again = false;
  };

  static Settled settled_way(const std::shared_ptr<const TrainingWays>& ways,
                             const std::shared_ptr<const ChosenStep>& step, const LoadChoice& way) {
    TrainingOrder order = ways->order_;
    order.room = way.limits.room;
    order.run_room = way.limits.run_room;
    order.pace = way.limits.pace;
    const auto list = [ways, step, way] {
      return finish(step->listed(way.limits, way.places.get()), ways->unlimited_);
    };
    double* const known = ways->known_seconds(order);
    std::shared_ptr<const Plan> plan;
    if (!known || *known == 0) plan = std::make_shared<const Plan>(list());
    const double seconds = plan ? ways->seconds(*plan) : *known;
    if (known) *known = seconds;
    return {seconds, text_of(order, way.more), [plan, list, in = ways->enforced_] {
              Plan made = plan ? *plan : list();
              if (in) enforce_host(made);
              return made;
            }};
  }

  /// Returns where the seconds of a run are kept for machines that differ only in the bytes of their memories, or null. A
  /// run that stays within its own limits is the same on all of them. If the seconds are not known yet, they are 0.
  double* known_seconds(const TrainingOrder& order) const {
    ShownPlans* const known = unlimited_.shown_plans;
    if (!known || !unlimited_.made_to_change || unlimited_.real_machine || order.chosen) return {};
    return &known->training[{*order.in_flight, order.weights_stay, order.staying, order.pace,
                             *order.room, order.run_room}];
  }

  /// Returns the simulated seconds of a plan, or 0 if the platform is a shown machine. Then the judge simulates the
  /// plan for the real machine instead.
  double seconds(const Plan& plan) const {
    if (unlimited_.real_machine) return 0;
    return enforced_ ? run_seconds_in_host(plan) : run_seconds(plan);
  }

  /// The ways that were found so far. The key is a list of the places of all loads. The value has the numbers of bytes
  /// within which runs with these places stay: one number for each way. Ways with equal places and bytes are equal.
  using SeenWays = std::map<std::vector<LoadPlace>, std::set<std::int64_t>>;
  struct LimitedOffer {
    ChosenStep::EarlyLoadLimits limits;
    ChosenStep::Offer offer;
  };

  /// Returns the ways of the step, and after them the ways with the places of the loads of larger steps.
  std::vector<LoadChoice> ways(const ChosenStep& step) const {
    const TriedCounts tried = tried_counts(step.program().count(), unlimited_.made_to_change);
    SeenWays seen;
    std::vector<LoadChoice> all = ways(step, step, tried, seen);
    if (unlimited_.made_to_change) return all;
    for (const auto& [more, tried_there] : larger_steps(per_batch(), step.program().count())) try {
        const auto order = LargerStep::larger_order(unlimited_, order_, more);
        if (!order) continue;
        const LargerStep larger(unlimited_, *order, more);
        for (LoadChoice& way : ways(step, larger, tried_there, seen)) {
          way.more = more;
          all.push_back(std::move(way));
        }
      } catch (const InputError&) {  // only the larger step has more than 2^63 - 1 bytes
      }
    return all;
  }

  /// Returns, for each pace, ways with different rooms for early loads (see rooms()), and at most TriedCounts::listings
  /// further ways. Of these, the first is the listing that needs the most bytes, and each one after it needs fewer
  /// bytes than the one before. Ways that do not fit are left out. `offered` is the step, or a larger step.
  template <class Offered>
  std::vector<LoadChoice> ways(const ChosenStep& step, const Offered& offered,
                               const TriedCounts& tried, SeenWays& seen) const {
    std::vector<LimitedOffer> all;
    for (std::size_t p = 0; p < tried.paces; ++p) add_rooms(offered, paces[p], all);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.limits.room < b.limits.room; });
    std::vector<LoadChoice> ways;
    for (const LimitedOffer& one : all) add_ways(step, one, seen, ways);
    for (std::size_t p = tried.paces; p-- > 0;) {
      std::int64_t room = no_limit;
      for (std::size_t n = 0; n < tried.listings && room >= offered.peak(); ++n) {
        const ChosenStep::EarlyLoadLimits limits{room, paces[p], run_room_};
        const LimitedOffer one{limits, offered.offer(limits)};
        add_ways(step, one, seen, ways);
        room = one.offer.most - 1;
      }
    }
    if (std::is_same_v<Offered, ChosenStep>)
      for (LoadChoice& way : ways)
        way.places = nullptr;  // listed() makes them again from the limits
    // Reversed, the ways with the machine's pace and the most room come first. The fastest way is probably among them.
    std::reverse(ways.begin(), ways.end());
    // The judge takes the first of equally fast ways. Of ways with the same places of loads, all except the first that
    // was found go to the end. They usually have less room, and more room may make the steps of a longer run faster.
    std::stable_partition(ways.begin(), ways.end(),
                          [](const LoadChoice& way) { return !way.listed_again; });
    return ways;
  }

  /// Adds to `ways` the ways to use the offer `one`: those that fit into memory and are not in `seen` yet. With
  /// `offer.most` bytes, the listing is the same as with the offer's room. But if transfers share links, it may matter
  /// within how many bytes the run stays. Then there are two ways: one stays within the offer's room, the other within
  /// `offer.most` bytes. If only one of the two ways were tried, a larger memory could lead to the other way, and make
  /// the run slower.
  void add_ways(const ChosenStep& step, const LimitedOffer& one, SeenWays& seen,
                std::vector<LoadChoice>& ways) const {
    LoadChoice way{one.limits};
    for (const std::int64_t room : {one.limits.room, one.offer.most}) {
      if (!fits(room)) continue;
      std::set<std::int64_t>& stays_within = seen[one.offer.places];
      way.listed_again = !stays_within.empty();
      if (!stays_within.insert(run_room_.value_or(room)).second) continue;
      if (!way.places) {
        way.places = std::make_shared<const std::vector<LoadPlace>>(one.offer.places);
        way.at_least = step.at_least(one.limits, one.offer);
      }
      way.limits.room = room;
      ways.push_back(way);
    }
  }

  /// Adds offers for different rooms with this pace. A room is a number of bytes up to which early loads may fill a
  /// device. If several rooms lead to the same listing, adds an offer only for the smallest of these rooms. The loop
  /// goes from the largest room to the smallest. If a room's listing needs only `most` bytes, all smaller rooms with at
  /// least `most` bytes lead to the same listing.
  template <class Offered>
  void add_rooms(const Offered& offered, const std::optional<double>& pace,
                 std::vector<LimitedOffer>& all) const {
    const std::vector<std::int64_t> rooms = this->rooms(offered.peak());
    std::size_t end = 0;  // the rooms from this index on are done, or do not fit
    while (end < rooms.size() && fits(rooms[end])) ++end;
    while (end > 0) {
      ChosenStep::Offer offer = offered.offer({rooms[end - 1], pace, run_room_});
      while (end > 1 && rooms[end - 2] >= offer.most) --end;
      all.push_back({{rooms[--end], pace, run_room_}, std::move(offer)});
    }
  }

  /// Returns the rooms that are tried, the smallest first. A room is the step's peak plus bytes for early loads, so the
  /// smallest room is the peak alone. A plan that is made to be changed may use the whole memory of its machine, unless
  /// transfers share a link: plans for other machines have other rooms.
  std::vector<std::int64_t> rooms(std::int64_t peak) const {
    if (unlimited_.made_to_change && capacity_ && run_room_) return {std::max(peak, *capacity_)};
    std::vector<std::int64_t> rooms;
    for (const double part : ahead_parts)
      rooms.push_back(peak + static_cast<std::int64_t>(part * static_cast<double>(peak)));
    return rooms;
  }

  std::int64_t per_batch() const {
    return unlimited_.workload.batch / unlimited_.workload.micro_batch;
  }

  bool fits(std::int64_t bytes) const { return !capacity_ || bytes <= *capacity_; }

  /// Returns whether two transfers of the run may use one link at the same time, and slow each other down.
  bool shares_links() const {
    const Platform& platform = unlimited_.pricing.platform;
    const std::string& host = platform.host().name;
    std::set<std::uint32_t> crossed;
    for (const std::string& device : order_.devices)
      for (const Path& path : {platform.path(host, device), platform.path(device, host)})
        for (const std::uint32_t channel : path.channels)
          if (!crossed.insert(channel).second) return true;
    return false;
  }

  bool enforced_;
  /// The capacity of the smallest device. Empty means unlimited.
  std::optional<std::int64_t> capacity_;
  /// How many bytes of each device a run may use. If empty, each way has its own limit: the bytes up to which its early
  /// loads may fill a device.
  std::optional<std::int64_t> run_room_;
  PolicyRequest unlimited_;
  TrainingOrder order_;
  std::int64_t at_least_;
  std::shared_ptr<const std::vector<Stage>> stages_;  ///< the stages to which the request refers
};

/// Returns whether there is nothing to choose about the loads: they do not overlap with computation, or they may as
/// well all come early. If weights that stay are loaded between the inputs of several micro-batches, the order of these
/// loads is a choice. The result does not depend on prices.
bool loads_leave_no_choice(const PolicyRequest& unlimited, const TrainingOrder& order,
                           const std::optional<std::int64_t>& capacity) {
  if (!order.overlap) return true;
  const bool stay = order.weights_stay || std::ranges::count(order.staying, true) > 0;
  if (stay && *order.in_flight > 1 && unlimited.pricing.stages.size() > 1) return false;
  const ChosenStep step(unlimited, order);
  return loads_only_inputs(step.program()) &&
         (!capacity || step.offer({no_limit, as_early_as_may_be}).most <= *capacity);
}

/// Returns a candidate for each number of micro-batches in flight.
std::vector<Candidate> candidates_of_order(
    const PolicyRequest& request, const TrainingOrder& order,
    const std::shared_ptr<const std::vector<Stage>>& stages) {
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  const WorkOfBatches work(unlimited, order, std::ranges::max(counts));
  std::vector<Candidate> candidates;
  for (const std::int64_t count : counts) {
    TrainingOrder settled = order;
    settled.in_flight = count;
    const std::int64_t passes = (per_batch + count - 1) / count;
    const auto ways = std::make_shared<const TrainingWays>(
        request, settled, work.peak_at_least(count, passes), stages);
    const double at_least = work.at_least(batches_of_run(request.workload), per_batch, passes);
    candidates.push_back({at_least, ways->count(), {}, [ways, at_least] {
                            return TrainingWays::opened(ways, at_least);
                          }});
  }
  return candidates;
}

/// Adds to the candidates of an order one candidate for each of orders_that_stay(). Until this candidate is opened, its
/// bound is that of the order in which most weights stay, because its run has the fewest copies.
void add_candidates_that_stay(const PolicyRequest& request, const TrainingOrder& order,
                              const std::shared_ptr<const std::vector<Stage>>& stages,
                              std::vector<Candidate>& candidates) {
  const std::vector<TrainingOrder> orders = orders_that_stay(request, order);
  if (orders.empty()) return;
  std::int64_t ways = 0;
  for (const Candidate& candidate : candidates) ways += candidate.ways;
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  const WorkOfBatches work(unlimited, orders.front(), std::ranges::max(counts));
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  double at_least = never;
  for (const std::int64_t count : counts)
    at_least = std::min(at_least, work.at_least(batches_of_run(request.workload), per_batch,
                                                (per_batch + count - 1) / count));
  for (const TrainingOrder& stays : orders)
    candidates.push_back({at_least, ways, {}, [request, stays, stages] {
                            if (!staying_fits(request, stays)) return std::vector<Candidate>();
                            return candidates_of_order(request, stays, stages);
                          }});
}

}  // namespace

std::string steps_text(const PolicyRequest& request, const TrainingOrder& order) {
  if (request.strategy().searches) return "";
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  std::string text;
  for (const std::int64_t count : counts_of(request, order)) {
    TrainingOrder settled = order;
    settled.in_flight = count;
    text += step_text(unlimited, settled, ChosenStep(unlimited, settled)) + ";";
  }
  return text;
}

std::vector<Candidate> training_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           std::shared_ptr<const std::vector<Stage>> stages) {
  // A plan that is too long is an error, unless several cuts are compared: another cut may have a shorter plan. Each
  // micro-batch has two passes of each stage, forward and backward.
  if (!request.cut_open)
    refuse_long_round(request.workload.micro_batches_per_step(), 2 * request.pricing.stages.size());
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  if (request.strategy().searches) return searched_candidates(request, order, counts, stages);
  // If the scenario makes all choices, and nothing is left to choose about the loads (loads_leave_no_choice), there are
  // no candidates. Then plan_training() makes the only plan, and its run may use the whole memory of the device.
  const bool all_said = order.in_flight || order.weights_stay;
  const bool asked_so = request.fates && !request.fates_open && !request.cut_open;
  if (asked_so && counts.size() == 1 && all_said) {
    TrainingOrder said = order;
    said.in_flight = counts.front();
    if (loads_leave_no_choice(unlimited, said, smallest_capacity(request, order))) return {};
  }
  std::vector<Candidate> candidates = candidates_of_order(request, order, stages);
  add_candidates_that_stay(request, order, stages, candidates);
  return candidates;
}

}  // namespace sluice
