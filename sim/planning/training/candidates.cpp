// Makes candidates for what a scenario of training leaves open: the number of micro-batches side by side, and the bytes
// that early loads may use.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>
#include <sstream>

#include "base/quantity.hpp"
#include "planning/builder.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/rounding.hpp"
#include "planning/training/step_digest.hpp"
#include "planning/training/training.hpp"

namespace sluice {
namespace {

/// The numbers of bytes that are tried for early loads, each as a multiple of a step's peak without early loads.
constexpr std::array<double, 17> ahead_parts = {0.0, 0.02, 0.035, 0.06, 0.1, 0.2,  0.35, 0.5, 0.75,
                                                1.0, 1.5,  2.5,   4.0,  7.0, 12.0, 20.0, 34.0};

constexpr double as_early_as_may_be = 1e6;
/// The paces that are tried, the most useful first. The empty element is the pace of the machine itself. In order of
/// size, neighbouring paces mostly differ by a factor of about 1.4. Because of such small gaps, nearly every plan that
/// is tried for a slow machine is also tried for a fast one.
const std::array<std::optional<double>, 10> paces = {
    std::optional<double>(), as_early_as_may_be, 1.0, 4.0, 2.0, 0.5, 16.0, 1.4, 2.8, 0.7};

/// In how many ways the loads of a step are listed. The more operations a step has, the fewer ways are tried.
struct TriedCounts {
  std::size_t paces = 1;  ///< how many of `paces` are tried, from the beginning
  std::size_t listings =
      0;  ///< how many different listings are tried per pace, beginning with the most bytes
};
constexpr TriedCounts most_tried{paces.size(), 40};
TriedCounts tried_counts(std::int64_t operations) {
  if (operations <= 500) return most_tried;
  if (operations <= 2'000) return {3, 0};
  return {1, 0};
}

/// Lower bounds of seconds and of peaks for batches of any size. The sums of a few small batches are computed. The sums
/// of a larger batch follow from them, because each further pass and each further micro-batch adds a fixed amount.
class WorkOfBatches {
 public:
  WorkOfBatches(const PolicyRequest& request, const TrainingOrder& order)
      : request_(request), order_(order) {
    one_ = of(1, 1);
    const TrainingSums two = of(2, 1), three = of(3, 1), four = of(4, 2);
    one_pass_peaks_ = {one_.peak, of(2, 2).peak, of(3, 3).peak};
    passes_peaks_ = {two.peak, of(3, 2).peak, of(4, 3).peak};
    two_passes_ = two;
    each_ = part(four, two, 0.5);
    pass_ = less(part(three, two, 1), each_);
  }

  /// Returns a lower bound on the seconds of a run of `batches` batches with this many micro-batches and passes.
  double at_least(double batches, std::int64_t micro_batches, std::int64_t passes) const {
    const TrainingSums& base = passes == 1 ? one_ : two_passes_;
    const auto more = static_cast<double>(micro_batches - (passes == 1 ? 1 : 2));
    const auto turns = static_cast<double>(passes == 1 ? 0 : passes - 2);
    const auto sum = [&](double TrainingSums::*what) {
      return base.*what + more * (each_.*what) + turns * (pass_.*what);
    };
    const double compute = sum(&TrainingSums::compute_s), load = sum(&TrainingSums::load_s),
                 save = sum(&TrainingSums::save_s);
    const double additions = batches * sum(&TrainingSums::additions);
    // In a pass with fewer micro-batches than the others, the bytes of copies may be rounded. So the bound is lowered
    // a little.
    constexpr double division = 1 - 1e-9;
    if (!order_.overlap)
      return lowered_for_rounding(batches * (compute + load + save) * division, additions);
    const double computed = one_.first_loads_s + batches * compute + one_.last_saves_s;
    return lowered_for_rounding(std::max(computed, batches * std::max(load, save) * division),
                                additions);
  }

  /// Returns a lower bound on the peak of every device with this many micro-batches side by side. An operation of the
  /// tape computes these micro-batches one after the other. The device holds the most bytes at the first or the last of
  /// them. At both, the bytes are a linear function of the number of micro-batches. The peak is the greatest of such
  /// functions, so each further micro-batch adds at least as much to it as the one before. So beyond 3 micro-batches,
  /// each adds at least (peak of 3) - (peak of 2).
  std::int64_t peak_at_least(std::int64_t in_flight, std::int64_t passes) const {
    const std::array<std::int64_t, 3>& peaks = passes == 1 ? one_pass_peaks_ : passes_peaks_;
    if (in_flight <= 3) return peaks[static_cast<std::size_t>(in_flight - 1)];
    const double more =
        static_cast<double>(in_flight - 3) * static_cast<double>(peaks[2] - peaks[1]);
    return peaks[2] + static_cast<std::int64_t>(std::min(more, 4e18));
  }

 private:
  TrainingSums of(std::int64_t micro_batches, std::int64_t in_flight) const {
    PolicyRequest small = request_;
    small.workload.batch = micro_batches * request_.workload.micro_batch;
    small.workload.batches_per_step = 1;
    TrainingOrder order = order_;
    order.in_flight = in_flight;
    return training_sums(small, order);
  }
  static TrainingSums part(const TrainingSums& a, const TrainingSums& b, double factor) {
    return {(a.compute_s - b.compute_s) * factor, (a.load_s - b.load_s) * factor,
            (a.save_s - b.save_s) * factor, (a.additions - b.additions) * factor};
  }
  static TrainingSums less(const TrainingSums& a, const TrainingSums& b) { return part(a, b, 1); }

  const PolicyRequest& request_;
  const TrainingOrder& order_;
  TrainingSums one_, two_passes_, each_, pass_;
  /// The peaks with 1, 2 and 3 micro-batches in flight: `one_pass_peaks_` for a batch of one pass, `passes_peaks_` for
  /// a batch of two passes, of which the second has one micro-batch.
  std::array<std::int64_t, 3> one_pass_peaks_{}, passes_peaks_{};
};

/// Returns the capacity of the device with the smallest memory. The result is empty if no device has a limit, or if
/// capacities are not enforced.
std::optional<std::int64_t> smallest_capacity(const PolicyRequest& request,
                                              const TrainingOrder& order) {
  std::optional<std::int64_t> least;
  for (const std::string& name : order.devices)
    if (const auto capacity = request.pricing.platform.device(name).memory().capacity)
      least = std::min(*capacity, least.value_or(*capacity));
  return request.capacity_enforced ? least : std::nullopt;
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

  /// Returns one candidate for all ways, or nothing if the step cannot fit. `at_least` is a lower bound of the
  /// candidate's seconds. The ways are listed only when the judge opens the candidate, because another strategy may
  /// already have had the same ways.
  static std::vector<Candidate> opened(const std::shared_ptr<const TrainingWays>& ways,
                                       double at_least) {
    if (!ways->fits(ways->at_least_)) return {};
    const auto step = std::make_shared<const ChosenStep>(ways->unlimited_, ways->order_);
    return {{.at_least = at_least,
             .open = [ways, step] { return listed(ways, step); },
             .same_ways = ways->description(*step)}};
  }

 private:
  /// Returns a candidate for each way that fits, but only one for ways that are equal.
  static std::vector<Candidate> listed(const std::shared_ptr<const TrainingWays>& ways,
                                       const std::shared_ptr<const ChosenStep>& step) {
    std::vector<Candidate> candidates;
    for (const LoadChoice& way : ways->ways(*step))
      candidates.push_back(
          {way.at_least, 1, [ways, step, limits = way.limits](double, const auto& settled) {
             settled(ways->settled(*step, limits));
           }});
    return candidates;
  }

  /// Returns a text that is the same for all strategies for fates that lead to the same step. The address of the stages
  /// stands for the cut in this text: all requests with one cut have the same address, except under `resident`.
  std::string description(const ChosenStep& step) const {
    std::ostringstream text;
    text << order_.policy << " " << *order_.in_flight << " " << order_.weights_stay << " "
         << (unlimited_.real_machine != nullptr) << " " << &unlimited_.pricing.stages << " "
         << step_digest(step.program());
    return text.str();
  }

  struct LoadChoice {
    ChosenStep::EarlyLoadLimits limits;
    double at_least = 0;
  };

  Settled settled(const ChosenStep& step, const ChosenStep::EarlyLoadLimits& limits) const {
    TrainingOrder order = order_;
    order.room = limits.room;
    order.run_room = limits.run_room;
    order.pace = limits.pace;
    const auto plan = std::make_shared<const Plan>(finish(step.listed(limits), unlimited_));
    return {seconds(*plan), text(order), [plan, in = enforced_] {
              Plan made = *plan;
              if (in) enforce_host(made);
              return made;
            }};
  }

  /// Returns the simulated seconds of a plan, or 0 if the platform is a shown machine. Then the judge simulates the
  /// plan for the real machine instead.
  double seconds(const Plan& plan) const {
    if (unlimited_.real_machine) return 0;
    return enforced_ ? run_seconds_in_host(plan) : run_seconds(plan);
  }

  /// Returns, for each pace, ways with different rooms for early loads (see rooms()), and at most TriedCounts::listings
  /// further ways. Of these, the first is the listing that needs the most bytes, and each one after it needs fewer
  /// bytes than the one before. Ways that do not fit are left out.
  std::vector<LoadChoice> ways(const ChosenStep& step) const {
    const TriedCounts tried = tried_counts(step.program().count());
    std::vector<ChosenStep::EarlyLoadLimits> all;
    for (std::size_t p = 0; p < tried.paces; ++p) add_rooms(step, paces[p], all);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.room < b.room; });
    std::vector<LoadChoice> ways;
    std::set<std::vector<LoadPlace>> seen;
    const auto add = [&](ChosenStep::EarlyLoadLimits limits) {
      ChosenStep::Offer offer = step.offer(limits);
      // If the room does not fit, `offer.most` bytes may fit, and lead to the same listing.
      if (!fits(limits.room)) limits.room = offer.most;
      if (!fits(limits.room)) return offer.most;
      const bool fresh = seen.insert(offer.places).second;
      if (fresh) ways.push_back({limits, step.at_least(limits, offer)});
      return offer.most;
    };
    for (const ChosenStep::EarlyLoadLimits& limits : all) add(limits);
    for (std::size_t p = tried.paces; p-- > 0;) {
      std::int64_t room = no_limit;
      for (std::size_t n = 0; n < tried.listings && room >= step.peak(); ++n)
        room = add({room, paces[p], run_room_}) - 1;
    }
    // Reversed, the ways with the machine's pace and the most room come first. The fastest way is probably among them.
    std::reverse(ways.begin(), ways.end());
    return ways;
  }

  /// Adds rooms to try with this pace. Several rooms may lead to the same listing: of these, adds only the smallest.
  /// The loop goes from the largest room to the smallest. If a room's listing needs only `used` bytes, all smaller
  /// rooms with at least `used` bytes lead to the same listing.
  void add_rooms(const ChosenStep& step, const std::optional<double>& pace,
                 std::vector<ChosenStep::EarlyLoadLimits>& all) const {
    const std::vector<std::int64_t> rooms = this->rooms(step.peak());
    std::size_t end = 0;  // the rooms from this index on are done, or do not fit
    while (end < rooms.size() && fits(rooms[end])) ++end;
    while (end > 0) {
      const std::int64_t used = step.offer({rooms[end - 1], pace, run_room_}).most;
      while (end > 1 && rooms[end - 2] >= used) --end;
      all.push_back({rooms[--end], pace, run_room_});
    }
  }

  /// Returns the rooms that are tried, the smallest first. A room is the step's peak plus bytes for early loads, so the
  /// smallest room is the peak alone.
  static std::vector<std::int64_t> rooms(std::int64_t peak) {
    std::vector<std::int64_t> rooms;
    for (const double part : ahead_parts)
      rooms.push_back(peak + static_cast<std::int64_t>(part * static_cast<double>(peak)));
    return rooms;
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

  static std::string shown(double pace) {
    return pace == as_early_as_may_be ? ", loads as early as there is room"
                                      : ", loads timed as if they took " +
                                            std::to_string(static_cast<std::int64_t>(100 * pace)) +
                                            " % of the computation";
  }
  std::string text(const TrainingOrder& order) const {
    std::string text = "in_flight: " + std::to_string(*order.in_flight);
    if (order.pace) text += shown(*order.pace);
    return text + (order.run_room ? "; loads ahead within " : "; stays within ") +
           format_quantity(static_cast<double>(*order.room), Dimension::bytes);
  }

  bool enforced_;
  /// The capacity of the smallest device. Empty means unlimited.
  std::optional<std::int64_t> capacity_;
  /// How many bytes of each device a run may use. If empty, these are the bytes of the room with which its loads are
  /// listed.
  std::optional<std::int64_t> run_room_;
  PolicyRequest unlimited_;
  TrainingOrder order_;
  std::int64_t at_least_;
  std::shared_ptr<const std::vector<Stage>> stages_;  ///< the stages to which the request refers
};

/// Returns whether there is nothing to choose about the loads. This is so if transfers do not overlap with computation.
/// It is also so if only inputs are loaded, and the device has room to load all of them as early as possible. The
/// result does not depend on prices.
bool loads_leave_no_choice(const PolicyRequest& unlimited, const TrainingOrder& order,
                           const std::optional<std::int64_t>& capacity) {
  if (!order.overlap) return true;
  const ChosenStep step(unlimited, order);
  for (const Program::Instance& instance : step.program().instances)
    if (instance.loaded && instance.home != Program::Home::input) return false;
  return !capacity || step.offer({no_limit, as_early_as_may_be}).most <= *capacity;
}

/// Returns the numbers of micro-batches in flight that are tried.
std::vector<std::int64_t> counts_of(const PolicyRequest& request, const TrainingOrder& order) {
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  if (order.in_flight) return {std::min(*order.in_flight, per_batch)};
  return order.weights_stay ? std::vector<std::int64_t>{1} : in_flight_choices(per_batch, 2);
}

}  // namespace

// If a strategy searches for the fates, they are not known here. If all activations are kept, a run has the fewest passes
// and the fewest copies. So the bound for kept activations holds for all fates, but it cannot use the bytes.
double training_at_least(const PolicyRequest& request, const TrainingOrder& order) {
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const bool searches = request.strategy().searches;
  if (searches) unlimited.fates = kept_fates();
  const WorkOfBatches work(unlimited, order);
  const std::optional<std::int64_t> capacity = smallest_capacity(request, order);
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t count : counts_of(request, order)) {
    const std::int64_t passes = (per_batch + count - 1) / count;
    if (!searches && capacity && work.peak_at_least(count, passes) > *capacity) continue;
    const auto batches =
        static_cast<double>(request.workload.batches_per_step * request.workload.steps);
    least = std::min(least, work.at_least(batches, per_batch, passes));
  }
  return least;
}

std::vector<Candidate> training_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           std::shared_ptr<const std::vector<Stage>> stages) {
  // A plan that is too long is an error, unless several cuts are compared: another cut may have a shorter plan. Each
  // micro-batch has two passes of each stage, forward and backward.
  if (!request.cut_open)
    refuse_long_round(request.workload.micro_batches_per_step(), 2 * request.pricing.stages.size());
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  if (request.strategy().searches) return searched_candidates(request, order, counts, stages);
  // If the scenario makes all choices and the loads leave none open, there are no candidates. Then the caller makes the
  // only plan, and its run may use the whole memory of the device.
  const bool all_said = order.in_flight || order.weights_stay;
  const bool asked_so = request.fates && !request.fates_open && !request.cut_open;
  if (asked_so && counts.size() == 1 && all_said) {
    TrainingOrder said = order;
    said.in_flight = counts.front();
    if (loads_leave_no_choice(unlimited, said, smallest_capacity(request, order))) return {};
  }
  const WorkOfBatches work(unlimited, order);
  const auto batches =
      static_cast<double>(request.workload.batches_per_step * request.workload.steps);
  std::vector<Candidate> candidates;
  for (const std::int64_t count : counts) {
    TrainingOrder settled = order;
    settled.in_flight = count;
    const std::int64_t passes = (per_batch + count - 1) / count;
    const auto ways = std::make_shared<const TrainingWays>(
        request, settled, work.peak_at_least(count, passes), stages);
    const double at_least = work.at_least(batches, per_batch, passes);
    candidates.push_back(
        {at_least,
         static_cast<std::int64_t>(most_tried.paces * (ahead_parts.size() + most_tried.listings)),
         {},
         [ways, at_least] { return TrainingWays::opened(ways, at_least); }});
  }
  return candidates;
}

}  // namespace sluice
