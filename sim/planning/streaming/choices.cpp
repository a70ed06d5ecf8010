#include "planning/streaming/choices.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/never.hpp"
#include "base/quantity.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/run_seconds.hpp"
#include "planning/streaming/alternating_ways.hpp"
#include "planning/streaming/least_seconds.hpp"
#include "planning/streaming/listing.hpp"
#include "planning/streaming/rehearsal.hpp"
#include "planning/streaming/rehearsed_runs.hpp"
#include "planning/streaming/waiting_ways.hpp"

namespace sluice {
namespace {

constexpr std::int64_t no_bytes_limit = std::numeric_limits<std::int64_t>::max();

/// The data that all candidates of one cut of the model with one fate of boundaries share.
struct CutContext {
  const PolicyRequest& request;
  CommonParameters common;
  StreamedKeys keys;
  std::optional<std::int64_t> capacity;
  std::shared_ptr<RehearsedChoices> choices;
  const StreamedCase& streamed() const { return choices->streamed(); }
};

/// A rehearsal of a choice. It is made when it is needed first.
class LazyRehearsal {
 public:
  LazyRehearsal(const StreamedCase& streamed, StreamedChoice choice)
      : streamed_(streamed), choice_(std::move(choice)) {}
  /// Returns Rehearsal::at_least() of the step with this value of `ahead`.
  double at_least(std::int64_t ahead) {
    return streamed_.repeats_passes(choice_.in_flight)
               ? RehearsedStep::at_least(streamed_, choice_with(ahead))
               : with(ahead).at_least();
  }
  /// Sets the seconds of the run and RehearsedRun::used.
  void rehearse(RehearsedRun& run) {
    if (streamed_.repeats_passes(choice_.in_flight)) {
      const RehearsedStep step(streamed_, choice_with(run.ahead));
      run.alone_s = step.seconds();
      run.used = step.order().used;
      return;
    }
    const Rehearsal& made = with(run.ahead);
    const RehearsedOrder order = made.order();
    run.alone_s = made.seconds(order.loads);
    run.used = order.used;
  }
  const StreamedChoice& choice_with(std::int64_t ahead) {
    choice_.ahead = ahead;
    return choice_;
  }

 private:
  const Rehearsal& with(std::int64_t ahead) {
    choice_.ahead = ahead;
    if (!rehearsal_) rehearsal_.emplace(streamed_, choice_);
    if (rehearsal_->choice().ahead != ahead) rehearsal_->set_ahead(ahead);
    return *rehearsal_;
  }

  const StreamedCase& streamed_;
  StreamedChoice choice_;
  std::optional<Rehearsal> rehearsal_;
};

/// The ways to run with a given number of micro-batches in flight. All boundaries are offloaded, or all are kept, or
/// some are kept and the others are offloaded.
class StreamedWays {
 public:
  StreamedWays(std::shared_ptr<const CutContext> shared, ChoicesInFlight& own)
      : shared_(std::move(shared)), own_(own) {}

  std::int64_t count() const {
    std::int64_t ways = own_.count;
    for (const Candidate& one : waiting()) ways += one.ways;
    return ways;
  }

  /// Returns a lower bound of the seconds of every way that fits. If no way fits, the bound is infinite.
  /// All choices of the weights that stay are compared: with fewer resident bytes, the bound may be lower, because
  /// there may be fewer copies, and each copy has a set-up time.
  double at_least() const {
    double least = never;
    for (StayingWeights& staying : own_.staying)
      if (fits(staying.least)) least = std::min(least, at_least(staying));
    return least;
  }

  /// Returns the candidates of waiting(), and a candidate for each choice of the weights that stay, if it fits.
  static std::vector<Candidate> open(const std::shared_ptr<const StreamedWays>& ways) {
    std::vector<Candidate> opened;
    for (StayingWeights& staying : ways->own_.staying)
      if (ways->fits(staying.least))
        opened.push_back({.at_least = ways->at_least(staying),
                          .open = [ways, &staying] { return by_buffers(ways, staying); }});
    for (Candidate& waiting : ways->waiting()) opened.push_back(std::move(waiting));
    return opened;
  }

  /// Returns the candidates in which the slots of two passes alternate (alternating.hpp).
  std::vector<Candidate> alternating() const {
    if (shared_->choices->offload()) return {};
    const CutContext& own = *shared_;
    std::vector<Candidate> all = alternating_candidates(
        {own.request, own.common, own.keys, own.streamed(), own.capacity}, own_.in_flight, shared_);
    const std::optional<StreamedCase>& replicas = own.choices->shared();
    const double least =
        replicas ? sluice::loads_at_least(*replicas, own_.staying.back().choice) : 0;
    for (Candidate& one : all) one.at_least = std::max(one.at_least, least);
    return all;
  }
  /// Returns a lower bound of the seconds of alternating(). It also holds if copies are slower than on this machine.
  double alternating_at_least() const {
    if (shared_->choices->offload() || !streamed().overlap) return never;
    return std::max(loads_at_least(), sluice::alternating_at_least(streamed(), own_.in_flight));
  }

 private:
  /// Returns a candidate for each number of buffers and each size of pieces. A rehearsal gives a candidate's lower
  /// bound. It is made again when the candidate is simulated: keeping all rehearsals would need much memory.
  static std::vector<Candidate> by_buffers(const std::shared_ptr<const StreamedWays>& ways,
                                           StayingWeights& staying) {
    std::vector<Candidate> opened;
    for (RehearsedRuns& some : ways->shared_->choices->by_buffers(staying)) {
      if (ways->streamed().real) {
        for (Candidate& one : by_ahead(ways, staying, some, no_bytes_limit))
          opened.push_back(std::move(one));
        continue;
      }
      RehearsedRun* const most = ways->most_ahead(some, no_bytes_limit);
      if (!most) continue;
      LazyRehearsal rehearsal = ways->rehearsal(staying, some);
      opened.push_back({.at_least = std::max(ways->at_least(staying), at_least(rehearsal, *most)),
                        .simulate = [ways, &staying, &some](double worth, const auto& settled) {
                          ways->simulate(staying, some, worth, settled);
                        }});
    }
    return opened;
  }

  /// For a shown machine. Returns a candidate with the values of `ahead` that need less than `below` bytes, or nothing
  /// if there are none. When it is opened, it becomes two candidates. The first has only the greatest value of `ahead`.
  /// The second has those smaller values that lead to another order of loads than the greatest value, or all smaller
  /// values if their runs may differ all the same. Only the judge knows the seconds of the ways on the real machine. A
  /// rehearsal gives lower bounds of these seconds.
  static std::vector<Candidate> by_ahead(const std::shared_ptr<const StreamedWays>& ways,
                                         StayingWeights& staying, RehearsedRuns& some,
                                         std::int64_t below) {
    RehearsedRun* const most = ways->most_ahead(some, below);
    if (!most) return {};
    LazyRehearsal rehearsal = ways->rehearsal(staying, some);
    const double least = std::max(ways->at_least(staying), at_least(rehearsal, *most));
    return {{.at_least = least, .open = [ways, &staying, &some, least, most] {
               LazyRehearsal again = ways->rehearsal(staying, some);
               rehearse(again, *most);
               const Settled way = ways->way(staying, some, *most, most->alone_s);
               const std::int64_t bytes = some.least + most->ahead;
               std::vector<Candidate> opened = by_ahead(
                   ways, staying, some, ways->limited() ? bytes : std::min(*most->used, bytes));
               opened.insert(opened.begin(),
                             {.at_least = std::max(least, way.seconds),
                              .simulate = [way](double, const auto& settled) { settled(way); }});
               return opened;
             }}};
  }

  LazyRehearsal rehearsal(const StayingWeights& staying, const RehearsedRuns& some) const {
    return {streamed(), some.choice(staying)};
  }
  static double at_least(LazyRehearsal& rehearsal, RehearsedRun& run) {
    if (!run.at_least) run.at_least = rehearsal.at_least(run.ahead);
    return *run.at_least;
  }
  static void rehearse(LazyRehearsal& rehearsal, RehearsedRun& run) {
    if (!run.used) rehearsal.rehearse(run);
  }

  /// Returns the run with the greatest value of `ahead` for which the device has room. It needs less than `below`
  /// bytes. Returns null if there is none.
  RehearsedRun* most_ahead(RehearsedRuns& some, std::int64_t below) const {
    for (auto run = some.runs.rbegin(); run != some.runs.rend(); ++run)
      if (const std::int64_t bytes = some.least + run->ahead; fits(bytes) && bytes < below)
        return &*run;
    return nullptr;
  }

  /// Returns the candidates with actions that may wait for memory (waiting_ways.hpp).
  std::vector<Candidate> waiting() const {
    const StreamedKeys& keys = shared_->keys;
    if (keys.ahead || !own_.boundaries_stay.empty()) return {};
    StayingWeights& fewest = own_.staying.back();
    const RehearsedChoices& choices = *shared_->choices;
    StreamedChoice choice = fewest.choice;
    choice.buffers =
        keys.buffers.value_or(std::min(choices.most_buffers(), streamed().micro_batches + 1));
    choice.piece = choices.pieces(own_.in_flight).front();
    return waiting_candidates({shared_->request, shared_->common, streamed(), choice,
                               shared_->capacity, at_least(fewest), !keys.piece},
                              shared_);
  }

  /// Simulates a choice with several values of `ahead`, the greatest first. A smaller value has a higher lower bound of
  /// the seconds, so the loop ends when this bound reaches `worth`. Loads may use fewer bytes than `ahead` allows. The
  /// loop skips all smaller values that still allow these bytes: they lead to the same order of loads.
  void simulate(const StayingWeights& staying, RehearsedRuns& some, double worth,
                const std::function<void(const Settled&)>& settled) const {
    const bool replayed = shared_->choices->replayed();
    LazyRehearsal rehearsal = this->rehearsal(staying, some);
    std::int64_t same_from = no_bytes_limit;
    for (auto run = some.runs.rbegin(); run != some.runs.rend(); ++run) {
      const std::int64_t bytes = some.least + run->ahead;
      if (!fits(bytes) || (!replayed && bytes >= same_from)) continue;
      if (!(at_least(rehearsal, *run) < worth * (1 - 1e-12))) return;
      rehearse(rehearsal, *run);
      same_from = *run->used;
      // These seconds count every copy as if no other copy used its links.
      if (replayed && !(run->alone_s < worth * (1 - 1e-12))) continue;
      const double seconds = replayed ? seconds_replayed(rehearsal, *run) : run->alone_s;
      worth = std::min(worth, seconds);
      settled(way(staying, some, *run, seconds));
    }
  }

  Settled way(const StayingWeights& staying, const RehearsedRuns& some, const RehearsedRun& run,
              double seconds) const {
    const std::int64_t bytes = some.least + run.ahead;
    const StreamedChoice choice = some.choice(staying, run.ahead);
    return {seconds,
            choice.text(streamed().groups.size()) + "; stays within " + format_bytes(bytes),
            [shared = shared_, choice, limited = limited()] {
              const RehearsedStep again(shared->streamed(), choice);
              Plan plan =
                  finish(list_rehearsed(shared->request, shared->common, again), shared->request);
              if (limited) stay_within(plan, shared->common.device.name, again.rehearsal().bytes());
              return plan;
            }};
  }

  /// Returns a lower bound of the seconds that holds for any choice of the weights that stay. If the weights do not
  /// fit at once, some of them stay and the others are loaded in every pass. Each load occupies its room for longer
  /// than its latency. So a pass takes at least this many latencies: (weights that take turns) / (room beside the
  /// weights that stay). This quotient is smallest if no weights stay.
  double loads_at_least() const {
    if (!shared_->capacity || streamed().weights() <= *shared_->capacity) return 0;
    return static_cast<double>(streamed().steps) * shared_->choices->passes(own_.in_flight) *
           streamed().down.latency_s * static_cast<double>(streamed().weights()) /
           static_cast<double>(*shared_->capacity);
  }

  double at_least(StayingWeights& staying) const {
    return std::max(loads_at_least(), shared_->choices->at_least(staying));
  }

  /// Returns whether runs stay within the bytes for which they are planned.
  bool limited() const {
    return shared_->choices->replayed() || streamed().room_changes_runs();
  }

  bool fits(std::int64_t bytes) const { return !shared_->capacity || bytes <= *shared_->capacity; }

  double seconds_replayed(LazyRehearsal& rehearsal, RehearsedRun& run) const {
    if (run.replayed_s) return *run.replayed_s;
    const RehearsedStep made(streamed(), rehearsal.choice_with(run.ahead));
    Plan plan = finish(list_rehearsed(shared_->request, shared_->common, made), shared_->request);
    stay_within(plan, shared_->common.device.name, made.rehearsal().bytes());
    run.replayed_s = run_seconds(plan);
    return *run.replayed_s;
  }

  const StreamedCase& streamed() const { return shared_->streamed(); }

  std::shared_ptr<const CutContext> shared_;
  ChoicesInFlight& own_;  ///< belongs to CutContext::choices
};

/// Returns the ways for each number of micro-batches in flight, with boundaries kept and with boundaries offloaded.
std::vector<std::shared_ptr<const StreamedWays>> ways_of(const PolicyRequest& request,
                                                         const CommonParameters& common,
                                                         const StreamedKeys& keys) {
  std::vector<bool> fates = {false, true};
  if (keys.offload) fates = {*keys.offload};
  if (request.pricing.stages.size() == 1) fates = {false};
  std::vector<std::shared_ptr<const StreamedWays>> all;
  for (const bool offload : fates) {
    const auto make = [&] {
      return std::make_shared<RehearsedChoices>(request, common, keys, offload);
    };
    const auto shared = std::make_shared<const CutContext>(
        CutContext{request, common, keys,
                   request.capacity_enforced ? common.device.memory().capacity : std::nullopt,
                   request.shown_plans ? request.shown_plans->streamed.of(offload, make) : make()});
    for (ChoicesInFlight& some : shared->choices->all())
      all.push_back(std::make_shared<const StreamedWays>(shared, some));
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
