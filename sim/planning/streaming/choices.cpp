#include "planning/streaming/choices.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/run_seconds.hpp"
#include "planning/streaming/ahead_values.hpp"
#include "planning/streaming/alternating_ways.hpp"
#include "planning/streaming/buffer_counts.hpp"
#include "planning/streaming/least_seconds.hpp"
#include "planning/streaming/listing.hpp"
#include "planning/streaming/rehearsal.hpp"
#include "planning/streaming/waiting_ways.hpp"
#include "workload/rounds.hpp"

namespace sluice {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::int64_t no_bytes_limit = std::numeric_limits<std::int64_t>::max();
/// Each pair is a number of inputs and a number of results, of slots other than the computed slot. If a choice has
/// StreamedChoice::spares, each pair gives a value of `ahead` that is tried. This value is so large that every run of a
/// group has room for these inputs and results (RunLevels::more_for).
constexpr std::array<std::array<std::int64_t, 2>, 4> spared_at_first = {
    {{1, 0}, {1, 1}, {2, 2}, {7, 7}}};
/// The shares of the weights that stay are tried in multiples of 1 / 8.
constexpr std::int64_t shares_that_stay = 8;

/// The data that all candidates of one cut of the model share.
struct CutContext {
  const PolicyRequest& request;
  CommonParameters common;
  StreamedKeys keys;
  StreamedCase streamed;
  std::optional<std::int64_t> capacity;
  std::optional<StreamedCase> shared = {};  ///< on_shared_links()
};

/// The ways to run with a given number of micro-batches in flight. All boundaries are offloaded, or all are kept, or
/// those of `stay` are kept and the others are offloaded.
class StreamedWays {
 public:
  StreamedWays(std::shared_ptr<const CutContext> shared, std::int64_t in_flight, bool offload,
               const std::vector<bool>& stay)
      : shared_(std::move(shared)), in_flight_(in_flight), offload_(offload), stay_(stay) {}

  std::int64_t count() const {
    std::int64_t ways = 0;
    for (const Candidate& one : waiting()) ways += one.ways;
    for (const ResidentShare& stays : residencies())
      for (const BufferCount& some : buffers())
        ways += static_cast<std::int64_t>(pieces().size()) *
                (static_cast<std::int64_t>(aheads(choice(stays)).size()) +
                 (some.spares ? static_cast<std::int64_t>(spared_at_first.size()) : 0));
    return ways;
  }

  /// Returns a lower bound of the seconds of every way that fits. If no way fits, the bound is infinite.
  /// All choices of the weights that stay are compared: with fewer resident bytes, the bound may be lower, because
  /// there may be fewer copies, and each copy has a set-up time.
  double at_least() const {
    double least = never;
    for (const ResidentShare& stays : residencies()) {
      const StreamedChoice choice = this->choice(stays);
      if (fits(choice)) least = std::min(least, at_least(choice));
    }
    return least;
  }

  /// Returns the candidates of waiting(), and a candidate for each choice of the weights that stay, if it fits.
  static std::vector<Candidate> open(const std::shared_ptr<const StreamedWays>& ways) {
    std::vector<Candidate> opened;
    for (const ResidentShare& stays : ways->residencies()) {
      StreamedChoice choice = ways->choice(stays);
      if (!ways->fits(choice)) continue;
      const double least = ways->at_least(choice);
      opened.push_back({.at_least = least, .open = [ways, choice = std::move(choice)] {
                          return by_buffers(ways, choice);
                        }});
    }
    for (Candidate& waiting : ways->waiting()) opened.push_back(std::move(waiting));
    return opened;
  }

  /// Returns the candidates in which the slots of two passes alternate (alternating.hpp).
  std::vector<Candidate> alternating() const {
    if (offload_) return {};
    const CutContext& own = *shared_;
    std::vector<Candidate> all = alternating_candidates(
        {own.request, own.common, own.keys, own.streamed, own.capacity}, in_flight_, shared_);
    const double least = own.shared ? sluice::loads_at_least(*own.shared, choice({})) : 0;
    for (Candidate& one : all) one.at_least = std::max(one.at_least, least);
    return all;
  }
  /// Returns a lower bound of the seconds of alternating(). It also holds if copies are slower than on this machine.
  double alternating_at_least() const {
    if (offload_ || !shared_->streamed.overlap) return never;
    return std::max(loads_at_least(), sluice::alternating_at_least(shared_->streamed, in_flight_));
  }

 private:
  /// Returns a candidate for each number of buffers and each size of pieces. A rehearsal gives a candidate's lower
  /// bound. It is made again when the candidate is simulated: keeping all rehearsals would need much memory.
  static std::vector<Candidate> by_buffers(const std::shared_ptr<const StreamedWays>& ways,
                                           StreamedChoice choice) {
    std::vector<Candidate> opened;
    for (const BufferCount& buffers : ways->buffers())
      for (const std::int64_t piece : ways->pieces()) {
        choice.buffers = buffers.most;
        choice.spares = buffers.spares;
        choice.inputs_cross = buffers.inputs_cross;
        choice.inputs_first = buffers.inputs_first;
        choice.piece = piece;
        if (ways->shared_->streamed.real) {
          for (Candidate& one : by_ahead(ways, choice, no_bytes_limit))
            opened.push_back(std::move(one));
          continue;
        }
        Rehearsal rehearsal(ways->shared_->streamed, choice);
        const std::vector<std::int64_t> aheads = ways->aheads_that_fit(rehearsal);
        if (aheads.empty()) continue;
        rehearsal.set_ahead(aheads.back());
        opened.push_back({.at_least = std::max(ways->at_least(choice), rehearsal.at_least()),
                          .simulate = [ways, choice](double worth, const auto& settled) {
                            Rehearsal again(ways->shared_->streamed, choice);
                            ways->simulate(again, worth, settled);
                          }});
      }
    return opened;
  }

  /// For a shown machine. Returns a candidate with the values of `ahead` that need less than `below` bytes, or nothing
  /// if there are none. When it is opened, it becomes two candidates. The first has only the greatest value of `ahead`.
  /// The second has those smaller values that lead to another order of loads than the greatest value. Only the judge
  /// knows the seconds of the ways on the real machine. A rehearsal gives lower bounds of these seconds.
  static std::vector<Candidate> by_ahead(const std::shared_ptr<const StreamedWays>& ways,
                                         const StreamedChoice& choice, std::int64_t below) {
    Rehearsal rehearsal(ways->shared_->streamed, choice);
    std::vector<std::int64_t> aheads = ways->aheads_that_fit(rehearsal);
    std::erase_if(aheads, [&](std::int64_t some) { return rehearsal.bytes_with(some) >= below; });
    if (aheads.empty()) return {};
    rehearsal.set_ahead(aheads.back());
    const double least = std::max(ways->at_least(choice), rehearsal.at_least());
    return {{.at_least = least, .open = [ways, choice, least, ahead = aheads.back()] {
               Rehearsal again(ways->shared_->streamed, choice);
               again.set_ahead(ahead);
               const RehearsedRun run = ways->rehearsed(again);
               const Settled way = ways->way(again, run.alone_s);
               std::vector<Candidate> opened =
                   by_ahead(ways, choice, std::min(*run.used, again.bytes()));
               opened.insert(opened.begin(),
                             {.at_least = std::max(least, way.seconds),
                              .simulate = [way](double, const auto& settled) { settled(way); }});
               return opened;
             }}};
  }

  /// Returns the values of `ahead` for which the device has room, in ascending order.
  std::vector<std::int64_t> aheads_that_fit(const Rehearsal& rehearsal) const {
    std::vector<std::int64_t> all = aheads(rehearsal.choice());
    for (const auto& [inputs, results] : spared_at_first)
      if (rehearsal.choice().spares) all.push_back(rehearsal.levels().more_for(inputs, results));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (shared_->capacity)
      std::erase_if(all, [&](std::int64_t ahead) {
        return rehearsal.bytes_with(ahead) > *shared_->capacity;
      });
    return all;
  }

  /// Returns the candidates with actions that may wait for memory (waiting_ways.hpp).
  std::vector<Candidate> waiting() const {
    const StreamedKeys& keys = shared_->keys;
    if (keys.ahead || !stay_.empty()) return {};
    StreamedChoice choice = this->choice({});
    choice.buffers =
        keys.buffers.value_or(std::min(most_buffers(), shared_->streamed.micro_batches + 1));
    choice.piece = pieces().front();
    return waiting_candidates({shared_->request, shared_->common, shared_->streamed, choice,
                               shared_->capacity, at_least(choice), !keys.piece},
                              shared_);
  }

  /// Simulates a choice with several values of `ahead`, the greatest first. A smaller value has a higher lower bound of
  /// the seconds, so the loop ends when this bound reaches `worth`. Loads may use fewer bytes than `ahead` allows. The
  /// loop skips all smaller values that still allow these bytes: they lead to the same order of loads.
  void simulate(Rehearsal& rehearsal, double worth,
                const std::function<void(const Settled&)>& settled) const {
    const std::vector<std::int64_t> aheads = aheads_that_fit(rehearsal);
    std::int64_t same_from = no_bytes_limit;
    for (auto ahead = aheads.rbegin(); ahead != aheads.rend(); ++ahead) {
      if (!replayed() && rehearsal.bytes_with(*ahead) >= same_from) continue;
      rehearsal.set_ahead(*ahead);
      if (!(rehearsal.at_least() < worth * (1 - 1e-12))) return;
      const RehearsedRun run = rehearsed(rehearsal);
      same_from = *run.used;
      // These seconds count every copy as if no other copy used its links.
      if (replayed() && !(run.alone_s < worth * (1 - 1e-12))) continue;
      const double seconds = replayed() ? seconds_replayed(rehearsal) : run.alone_s;
      worth = std::min(worth, seconds);
      settled(way(rehearsal, seconds));
    }
  }

  /// Calls `use` with what is known about the run of the rehearsal. `use` may add to it.
  template <class Use>
  auto with_known(const Rehearsal& rehearsal, const Use& use) const {
    RehearsedRun fresh;
    ShownPlans* const known = shared_->request.shown_plans;
    return use(known ? known->rehearsed.of(rehearsal.choice()) : fresh);
  }

  RehearsedRun rehearsed(const Rehearsal& rehearsal) const {
    return with_known(rehearsal, [&](RehearsedRun& run) {
      if (run.used) return run;
      const RehearsedOrder order = rehearsal.order();
      run.alone_s = rehearsal.seconds(order.loads);
      run.used = order.used;
      return run;
    });
  }

  Settled way(const Rehearsal& rehearsal, double seconds) const {
    return {seconds, text(rehearsal),
            [shared = shared_, choice = rehearsal.choice(),
             limited = replayed() || shared_->streamed.shared_with_devices] {
              const Rehearsal again(shared->streamed, choice);
              Plan plan =
                  finish(list_rehearsed(shared->request, shared->common, again), shared->request);
              if (limited) stay_within(plan, shared->common.device.name, again.bytes());
              return plan;
            }};
  }

  /// The share of the weights that stays, and the order in which Sluice chooses the weights that stay.
  struct ResidentShare {
    ResidentOrder order = ResidentOrder::by_need;
    std::int64_t share = 0;  ///< in units of 1 / `shares_that_stay`
  };

  /// Returns whether the weights that take turns are loaded several times before the simulation ends.
  bool repeats() const {
    return shared_->streamed.groups.size() > 1 &&
           passes() * static_cast<double>(shared_->streamed.steps) > 1;
  }
  bool given_residency() const { return shared_->keys.resident.stays.has_value(); }

  /// Returns the shares of staying weights that are tried, from all weights down to none.
  std::vector<ResidentShare> residencies() const {
    if (given_residency() || !repeats()) return {{}};
    std::vector<ResidentShare> all;
    for (std::int64_t share = shares_that_stay; share >= 0; --share) {
      all.push_back({ResidentOrder::by_need, share});
      if (share > 0 && share < shares_that_stay) all.push_back({ResidentOrder::by_work, share});
    }
    return all;
  }

  /// Returns a choice: `stays` or the scenario says which weights stay. The caller sets buffers, pieces and `ahead`.
  StreamedChoice choice(const ResidentShare& stays) const {
    const StreamedCase& streamed = shared_->streamed;
    StreamedChoice choice{.in_flight = in_flight_,
                          .offload = offload_,
                          .boundaries_stay = stay_,
                          .prefetch = shared_->keys.prefetch};
    if (given_residency())
      choice.resident = asked_to_stay(streamed, shared_->keys.resident);
    else if (stays.share > 0)
      choice.resident = resident_weights(
          streamed, choice, stays.order,
          static_cast<std::int64_t>(static_cast<double>(streamed.weights()) *
                                    static_cast<double>(stays.share) / shares_that_stay));
    return choice;
  }

  /// Returns a lower bound of the seconds that holds for any choice of the weights that stay. If the weights do not
  /// fit at once, some of them stay and the others are loaded in every pass. Each load occupies its room for longer
  /// than its latency. So a pass takes at least this many latencies: (weights that take turns) / (room beside the
  /// weights that stay). This quotient is smallest if no weights stay.
  double loads_at_least() const {
    const StreamedCase& streamed = shared_->streamed;
    if (!shared_->capacity || streamed.weights() <= *shared_->capacity) return 0;
    return static_cast<double>(streamed.steps) * passes() * streamed.down.latency_s *
           static_cast<double>(streamed.weights()) / static_cast<double>(*shared_->capacity);
  }

  double at_least(const StreamedChoice& choice) const {
    return std::max({loads_at_least(), seconds_at_least(shared_->streamed, choice, most_buffers()),
                     shared_->shared ? replicas_at_least(*shared_->shared, choice) : 0});
  }

  bool fits(const StreamedChoice& choice) const {
    return !shared_->capacity || fits_within(shared_->streamed, choice, *shared_->capacity);
  }

  /// Returns whether only a replay of the plan gives its seconds. A rehearsal would ignore that loads and saves share a
  /// link, or that host memory may be full.
  bool replayed() const {
    const StreamedCase& streamed = shared_->streamed;
    return (streamed.shared_link && streamed.overlap) || (streamed.host_limited && offload_);
  }

  double seconds_replayed(const Rehearsal& rehearsal) const {
    return with_known(rehearsal, [&](RehearsedRun& run) {
      if (run.replayed_s) return *run.replayed_s;
      Plan plan =
          finish(list_rehearsed(shared_->request, shared_->common, rehearsal), shared_->request);
      stay_within(plan, shared_->common.device.name, rehearsal.bytes());
      run.replayed_s = run_seconds(plan);
      return *run.replayed_s;
    });
  }

  /// Returns the number of passes in a step.
  double passes() const {
    return static_cast<double>(passes_per_step(shared_->streamed.micro_batches, in_flight_));
  }
  std::vector<BufferCount> buffers() const {
    return buffer_counts(shared_->streamed, offload_, shared_->keys.buffers);
  }
  /// Returns the greatest number of buffers that is tried.
  std::int64_t most_buffers() const {
    return shared_->keys.buffers.value_or(std::ranges::max(buffers(), {}, &BufferCount::most).most);
  }
  std::vector<std::int64_t> pieces() const {
    if (shared_->keys.piece) return {*shared_->keys.piece};
    return piece_sizes(shared_->streamed, passes());
  }
  std::vector<std::int64_t> aheads(const StreamedChoice& choice) const {
    return ahead_values(shared_->streamed, choice, replayed(), shared_->keys.ahead);
  }

  std::string text(const Rehearsal& rehearsal) const {
    return rehearsal.choice().text(shared_->streamed.groups.size()) + "; stays within " +
           format_bytes(rehearsal.bytes());
  }

  std::shared_ptr<const CutContext> shared_;
  std::int64_t in_flight_;
  bool offload_;
  std::vector<bool> stay_;  ///< StreamedChoice::boundaries_stay
};

/// Returns the ways for each number of micro-batches in flight, with boundaries kept and with boundaries offloaded.
std::vector<std::shared_ptr<const StreamedWays>> ways_of(const PolicyRequest& request,
                                                         const CommonParameters& common,
                                                         const StreamedKeys& keys) {
  const std::int64_t micro_batches = request.workload.micro_batches_per_step();
  const bool one_group = request.pricing.stages.size() == 1;
  std::vector<std::int64_t> counts = in_flight_choices(micro_batches, 3);
  if (one_group) counts = {micro_batches};
  if (keys.in_flight) counts = {*keys.in_flight};
  std::vector<bool> fates = {false, true};
  if (keys.offload) fates = {*keys.offload};
  if (one_group) fates = {false};
  std::vector<std::shared_ptr<const StreamedWays>> all;
  for (const bool offload : fates) {
    const auto shared = std::make_shared<CutContext>(
        CutContext{request, common, keys, streamed_case(request, common, offload),
                   request.capacity_enforced ? common.device.memory().capacity : std::nullopt});
    shared->shared = on_shared_links(request, common, shared->streamed);
    std::vector<std::vector<bool>> sets = {{}};
    if (offload && !keys.offload) sets = boundaries_that_stay(shared->streamed);
    for (const std::vector<bool>& stay : sets)
      for (const std::int64_t in_flight : counts)
        all.push_back(std::make_shared<const StreamedWays>(shared, in_flight, offload, stay));
  }
  return all;
}

}  // namespace

std::vector<Candidate> streamed_candidates(const PolicyRequest& request,
                                           const CommonParameters& common,
                                           const StreamedKeys& keys) {
  std::vector<Candidate> candidates;
  for (const auto& ways : ways_of(request, common, keys)) {
    candidates.push_back({.at_least = ways->at_least(), .ways = ways->count(), .open = [ways] {
                            return StreamedWays::open(ways);
                          }});
    for (Candidate& one : ways->alternating()) candidates.push_back(std::move(one));
  }
  return candidates;
}

double streamed_at_least(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedKeys& keys) {
  double least = never;
  for (const auto& ways : ways_of(request, common, keys))
    least = std::min({least, ways->at_least(), ways->alternating_at_least()});
  return least;
}

}  // namespace sluice
