// Lists the loads of a training run in several ways (ways.hpp).
#include "planning/training/ways.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "planning/builder.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/joined_replicas.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/batch_bytes.hpp"
#include "planning/training/chain/block_bound.hpp"
#include "planning/training/larger_step.hpp"
#include "planning/training/late_loads.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/run_front.hpp"
#include "planning/training/step_digest.hpp"
#include "planning/training/work_of_batches.hpp"

namespace sluice {
namespace {

/// Returns whether the step already lists the loads of each operation by their bytes, the smallest first.
bool smallest_come_first(const Program& step) {
  const auto bytes = [&](std::uint32_t instance) { return step.instances[instance].bytes; };
  return std::ranges::all_of(step.operations, [&](const Program::Operation& operation) {
    return std::ranges::is_sorted(operation.loads, {}, bytes);
  });
}

/// Returns whether the request is for one of several equal replicas that delay each other: they share links, or sum
/// gradients and are simulated together.
bool replicas_delay_each_other(const PolicyRequest& request) {
  return request.replicas && !request.real_machine && !request.made_to_change &&
         (request.replicas->judged_together ||
          share_links(request.pricing.platform, *request.replicas->share));
}

/// Returns the request. If replicas share links, it is for the machine on which each of them has its share of the
/// links.
PolicyRequest with_share(const PolicyRequest& request) {
  if (!replicas_delay_each_other(request)) return request;
  return request.priced(request.pricing.on(*request.replicas->share));
}

}  // namespace

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

TrainingWays::TrainingWays(const PolicyRequest& request, TrainingOrder order,
                           std::shared_ptr<PeaksOfBatches> peaks,
                           std::shared_ptr<const std::vector<Stage>> stages)
    : enforced_(request.capacity_enforced),
      capacity_(capacities(request, order)),
      devices_differ_(devices_differ(request, order)),
      unlimited_(with_share(request)),
      order_(std::move(order)),
      peaks_(std::move(peaks)),
      stages_(std::move(stages)),
      counts_latency_(!request.real_machine && std::ranges::max(load_latencies(
                                                   request.pricing.platform, order_.devices)) > 0) {
  unlimited_.capacity_enforced = false;
  if (replicas_delay_each_other(request)) {
    whole_.emplace(request);
    whole_->capacity_enforced = false;
    shared_ = share_links(request.pricing.platform, *request.replicas->share);
    few_listings_ = request.replicas->few_listings;
  }
  // The run may use the whole memory only if no transfers share a link, because then more memory never makes an
  // action start later. With placement backing, replicas that are simulated together may share links, too.
  const bool alone = !request.replicas || !request.replicas->judged_together;
  if (!whole_ && alone && !shares_links()) run_room_ = capacity_;
  simulates_all_ = !whole_ && request.real_machine && joined_replicas(request);
  links_are_free_ = whole_ && !shared_ && !request.replicas->sums_share_links && !shares_links();
}

std::int64_t TrainingWays::count() const {
  const std::size_t several = devices_differ_ ? 1 : 0;
  const std::size_t rooms = run_room_ ? 1 : 2 + several + (uses_idle_links() ? run_parts.size() : 0);
  const auto ways_of = [&, late = lists_late() ? load_orders.size() : 0](const TriedCounts& tried) {
    return paces_of(tried) * ((1 + several) * (ahead_parts.size() + tried.listings) + late);
  };
  if (tries_few()) return static_cast<std::int64_t>(rooms * ways_of(few_tried));
  std::size_t ways = ways_of(most_tried);
  for (const TriedLarger& larger : larger_steps(per_batch(), 0))
    if (LargerStep::larger_order(unlimited_, order_, larger.more)) ways += ways_of(larger.tried);
  return static_cast<std::int64_t>(rooms * ways);
}

std::vector<Candidate> TrainingWays::opened(const std::shared_ptr<const TrainingWays>& ways,
                                            double at_least) {
  const std::int64_t in_flight = *ways->order_.in_flight;
  if (ways->limited() &&
      !ways->fits(ways->peaks_->at_least(in_flight, ways->per_batch() > in_flight)))
    return {};
  // The plan for a shown machine is changed afterwards, and may then need fewer bytes.
  const bool stays = !ways->unlimited_.real_machine && !ways->unlimited_.made_to_change;
  const std::int64_t most = ways->capacity_.greatest();
  const auto memory = stays && most < no_limit ? std::optional(most) : std::nullopt;
  const double blocks_s =
      block_bound(ways->whole_ ? *ways->whole_ : ways->unlimited_, ways->order_, memory);
  const auto open = [ways, memory, least = std::max(at_least, blocks_s)] {
    return with_step(ways, memory, least);
  };
  if (blocks_s <= at_least) return open();
  return {{.at_least = blocks_s, .open = open}};
}

std::vector<Candidate> TrainingWays::with_step(const std::shared_ptr<const TrainingWays>& ways,
                                               const std::optional<std::int64_t>& memory,
                                               double at_least) {
  const auto make = [ways, memory] {
    return std::make_shared<const ChosenStep>(ways->unlimited_, ways->order_, memory);
  };
  std::shared_ptr<const ChosenStep> step = make();
  if (ways->enforced_ && !homes_fit(ways->unlimited_, step->program())) return {};
  const double step_s =
      ways->whole_ ? ChosenStep(*ways->whole_, ways->order_, memory).at_least() : step->at_least();
  const double least = std::max(at_least, step_s);
  // A long step occupies much memory, and the judge may never open its candidate. So the step is then made once more.
  if (tried_counts(step->program().count_of_all(), /*made_to_change=*/false).paces == 1)
    step.reset();
  // The text is made only if the judge opens the candidate, because that takes about as long as to make the step.
  return {{.at_least = least, .open = [ways, make, kept = std::move(step), least] {
             const std::shared_ptr<const ChosenStep> opened = kept ? kept : make();
             const auto list = [ways, opened] { return listed(ways, opened); };
             return std::vector<Candidate>{
                 {.at_least = least,
                  .open = list,
                  .same_ways = step_text(ways->unlimited_, ways->order_, *opened)}};
           }}};
}

std::vector<Candidate> TrainingWays::listed(const std::shared_ptr<const TrainingWays>& ways,
                                            const std::shared_ptr<const ChosenStep>& step) {
  std::vector<LoadChoice> all = ways->ways(*step);
  if (ways->whole_) return fastest_within(ways, step, std::move(all));
  std::vector<Candidate> candidates;
  for (const LoadChoice& way : all)
    candidates.push_back({way.at_least, 1, [ways, step, way](double, const auto& settled) {
                            settled(TrainingWays::settled(ways, step, way));
                          }});
  return candidates;
}

// The ways are compared in the order of the bytes within which their runs stay. So what is left out does not depend on
// the capacity: a larger memory only adds ways at the end. If no transfers of all replicas share a link, the runs of
// those ways that are left may then use the whole memory, because more memory never makes an action start later. The
// judge gets the ways with the most bytes first, because more bytes may make the steps of a longer run faster: of
// equally fast ways, the judge takes the first.
std::vector<Candidate> TrainingWays::fastest_within(const std::shared_ptr<const TrainingWays>& ways,
                                                    const std::shared_ptr<const ChosenStep>& step,
                                                    std::vector<LoadChoice> all) {
  std::ranges::sort(all, [](const LoadChoice& a, const LoadChoice& b) {
    return std::tie(a.limits.room, *a.places) < std::tie(b.limits.room, *b.places);
  });
  const auto count = static_cast<std::int64_t>(all.size());
  return {{0, count, [ways, step, all = std::move(all)](double worth, const auto& use) {
             const ChosenStep whole(*ways->whole_, ways->order_);
             RunFront front(most_equal(step->program().count_of_all()));
             std::vector<Settled> taken;
             for (const LoadChoice& way : all) {
               if (!front.may_take(way.at_least)) continue;
               Settled one = settled(ways, step, way);
               if (!front.takes(one.seconds, *way.places)) continue;
               LoadChoice run = way;
               if (ways->links_are_free_) run.limits.run_room = ways->capacity_;
               if (whole.at_least(run.limits, {.places = *way.places}) >= worth) continue;
               taken.push_back(ways->links_are_free_ ? settled(ways, step, run) : std::move(one));
             }
             for (auto one = taken.rbegin(); one != taken.rend(); ++one) use(*one);
           }}};
}

Settled TrainingWays::settled(const std::shared_ptr<const TrainingWays>& ways,
                              const std::shared_ptr<const ChosenStep>& step,
                              const LoadChoice& way) {
  TrainingOrder order = ways->order_;
  order.room = way.limits.room;
  order.run_room = way.limits.run_room;
  order.sequence = way.limits.sequence;
  const auto list = [ways, step, way](bool named = true) {
    return finish(step->listed(way.limits, way.listed_places(), named), ways->unlimited_);
  };
  // A plan of few passes of a long batch takes much memory. So it is made again, with names, if it is chosen.
  const bool few_passes = step->program().left_out > 0;
  double* const known = ways->known_seconds(order);
  std::shared_ptr<const Plan> plan;
  if (!known || *known == 0) try {
      plan = std::make_shared<const Plan>(list(!few_passes));
    } catch (const Infeasible&) {  // the passes differ, and a list of all of them is too long
      if (!few_passes) throw;
      return {};
    }
  const auto more = [&](std::int64_t peak, std::size_t d) {
    return std::max(peak, way.limits.room[d]);
  };
  const DeviceBytes needed =
      ways->counted(step->peaks().changed(ways->order_.devices.size(), more));
  if (plan && ways->run_may_fill_host(*plan) && way.limits.run_room.value_or(needed) != needed) {
    LoadChoice within = way;
    within.limits.run_room = needed;
    return settled(ways, step, within);
  }
  const double seconds = plan ? ways->seconds(*plan) : *known;
  if (known) *known = seconds;
  if (few_passes) plan.reset();
  return {seconds, text_of(order, way.more), [plan, list, in = ways->enforced_] {
            Plan made = plan ? *plan : list();
            if (in) enforce_host(made);
            return made;
          }};
}

double* TrainingWays::known_seconds(const TrainingOrder& order) const {
  ShownPlans* const known = unlimited_.shown_plans;
  if (!known || !unlimited_.made_to_change || unlimited_.real_machine || order.chosen) return {};
  return &known->training[{unlimited_.strategy().name, *order.in_flight, order.weights_stay,
                           order.staying, order.sequence, *order.room, order.run_room}];
}

bool TrainingWays::run_may_fill_host(const Plan& plan) const {
  return enforced_ && !unlimited_.real_machine && !unlimited_.made_to_change &&
         host_may_be_full(plan);
}

double TrainingWays::seconds(const Plan& plan) const {
  if (unlimited_.real_machine) return 0;
  return enforced_ ? run_seconds_in_host(plan) : run_seconds(plan);
}

std::vector<TrainingWays::LoadChoice> TrainingWays::ways(const ChosenStep& step) const {
  TriedCounts tried = tries_few()
                          ? few_tried
                          : tried_counts(step.program().count_of_all(), unlimited_.made_to_change);
  if (step.program().left_out > 0) tried.each_room = room_of_long_step(step.program().count());
  SeenWays seen;
  std::vector<LoadChoice> all = ways(step, step, tried, seen);
  if (unlimited_.made_to_change || tries_few()) return all;
  for (const auto& [more, tried_there] : larger_steps(per_batch(), step.program().count_of_all()))
    try {
      const auto order = LargerStep::larger_order(unlimited_, order_, more);
      if (!order) continue;
      const LargerStep larger(unlimited_, *order, more);
      if (larger.operations() != step.program().count()) continue;
      for (LoadChoice& way : ways(step, larger, tried_there, seen)) {
        way.more = more;
        all.push_back(std::move(way));
      }
    } catch (const InputError&) {  // only the larger step has more than 2^63 - 1 bytes
    }
  return all;
}

template <class Offered>
std::vector<TrainingWays::LoadChoice> TrainingWays::ways(const ChosenStep& step,
                                                         const Offered& offered,
                                                         const TriedCounts& tried,
                                                         SeenWays& seen) const {
  std::vector<LimitedOffer> all;
  const std::vector<RoomShares> all_shares = shares_of(offered.peaks());
  for (std::size_t p = 0; p < paces_of(tried); ++p)
    for (const RoomShares& shares : all_shares)
      add_rooms(offered, {paces[p]}, shares, tried.each_room, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.limits.room < b.limits.room; });
  std::vector<LoadChoice> ways;
  for (const LimitedOffer& one : all) add_ways(step, one, seen, ways);
  for (std::size_t p = paces_of(tried); p-- > 0;)
    for (const RoomShares& shares : all_shares) {
      std::int64_t room = no_limit;
      for (std::size_t n = 0; n < tried.listings && room >= offered.peaks().greatest(); ++n) {
        const ChosenStep::EarlyLoadLimits limits{shares.of(room), {paces[p]}, run_room_};
        const LimitedOffer one{limits, offered.offer(limits)};
        add_ways(step, one, seen, ways);
        room = shares.smallest_with(one.offer.most) - 1;
      }
    }
  // Reversed, the ways with the machine's pace and the most room come first. The fastest way is probably among them.
  std::reverse(ways.begin(), ways.end());
  // The judge takes the first of equally fast ways. Of ways with the same places of loads, all except the first that
  // was found go to the end. They usually have less room, and more room may make the steps of a longer run faster.
  std::stable_partition(ways.begin(), ways.end(),
                        [](const LoadChoice& way) { return !way.listed_again; });
  if (lists_late() && fits(step.peaks())) add_late_ways(step, offered, tried, seen, ways);
  if (std::is_same_v<Offered, ChosenStep> && !whole_)
    for (LoadChoice& way : ways) way.places = nullptr;  // listed() makes them again from the limits
  return ways;
}

void TrainingWays::add_ways(const ChosenStep& step, const LimitedOffer& one, SeenWays& seen,
                            std::vector<LoadChoice>& ways) const {
  LoadChoice way{one.limits};
  // The places are made again from each of these rooms.
  std::vector<DeviceBytes> rooms = {one.limits.room};
  if (!one.limits.room.differ()) rooms.emplace_back(one.offer.most.greatest());
  if (devices_differ_) rooms.push_back(one.offer.most);
  if (uses_idle_links())
    for (const double part : run_parts)
      rooms.emplace_back(
          static_cast<std::int64_t>(part * static_cast<double>(one.offer.most.greatest())));
  for (const DeviceBytes& room : rooms) {
    if (!fits(room)) continue;
    std::set<DeviceBytes>& stays_within =
        seen[static_cast<std::size_t>(one.limits.sequence.order)][one.offer.places];
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

template <class Offered>
void TrainingWays::add_rooms(const Offered& offered, const LoadSequence& sequence,
                             const RoomShares& shares, std::size_t each_room,
                             std::vector<LimitedOffer>& all) const {
  const std::vector<std::int64_t> rooms =
      this->rooms(offered.peaks().greatest(), shares, each_room);
  std::size_t end = 0;  // the rooms from this index on are done, or do not fit
  while (end < rooms.size() && fits(shares.of(rooms[end]))) ++end;
  while (end > 0) {
    ChosenStep::Offer offer = offered.offer({shares.of(rooms[end - 1]), sequence, run_room_});
    while (end > 1 && rooms[end - 2] >= shares.smallest_with(offer.most)) --end;
    all.push_back({{shares.of(rooms[--end]), sequence, run_room_}, std::move(offer)});
  }
}

template <class Offered>
void TrainingWays::add_late_ways(const ChosenStep& step, const Offered& offered,
                                 const TriedCounts& tried, SeenWays& seen,
                                 std::vector<LoadChoice>& ways) const {
  for (const LoadOrder order : load_orders) {
    if (order == LoadOrder::smallest_first && smallest_come_first(step.program())) continue;
    if (order != LoadOrder::as_listed && tried.each_room > 1) continue;
    for (std::size_t p = 0; p < paces_of(tried); ++p) {
      const ChosenStep::EarlyLoadLimits limits{0, {paces[p], order}, run_room_};
      add_ways(step, {limits, offered.offer(limits)}, seen, ways);
    }
  }
}

std::vector<RoomShares> TrainingWays::shares_of(const DeviceBytes& peaks) const {
  std::vector<RoomShares> shares(1);
  if (devices_differ_ && peaks.differ()) shares.emplace_back(peaks, order_.devices.size());
  return shares;
}

std::vector<std::int64_t> TrainingWays::rooms(std::int64_t peak, const RoomShares& shares,
                                              std::size_t each) const {
  if (unlimited_.made_to_change && limited() && run_room_)
    return {std::max(peak, shares.greatest_within(capacity_))};
  std::vector<std::int64_t> rooms;
  for (std::size_t i = 0; i < ahead_parts.size(); i += each)
    rooms.push_back(peak + static_cast<std::int64_t>(ahead_parts[i] * static_cast<double>(peak)));
  return rooms;
}

bool TrainingWays::shares_links() const {
  const Platform& platform = unlimited_.pricing.platform;
  const std::string& host = platform.host().name;
  std::set<std::uint32_t> crossed;
  for (const std::string& device : order_.devices)
    for (const Path& path : {platform.path(host, device), platform.path(device, host)})
      for (const std::uint32_t channel : path.channels)
        if (!crossed.insert(channel).second) return true;
  return false;
}

}  // namespace sluice
