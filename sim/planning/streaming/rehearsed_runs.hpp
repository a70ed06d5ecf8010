// What is known about the choices of streamed inference on one machine. It does not depend on the capacity of the
// device's memory. So requests that differ only in this capacity may share it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "planning/streaming/buffer_counts.hpp"
#include "planning/streaming/groups.hpp"
#include "planning/streaming/keys.hpp"

namespace sluice {

/// The run of a choice. A value is empty until it is known.
struct RehearsedRun {
  std::int64_t ahead = 0;                 ///< StreamedChoice::ahead
  std::optional<double> at_least = {};    ///< Rehearsal::at_least()
  std::optional<std::int64_t> used = {};  ///< as in RehearsedOrder
  double alone_s = 0;  ///< Rehearsal::seconds() of this order of loads; known if `used` is known
  /// The seconds of a replay of the plan, if copies slow each other down.
  std::optional<double> replayed_s = {};
};

struct StayingWeights;

/// The runs of a choice with each value of `ahead` that is tried.
struct RehearsedRuns {
  BufferCount buffers;
  std::int64_t piece = 0;          ///< StreamedChoice::piece
  std::int64_t least = 0;          ///< Rehearsal::bytes_with(0)
  std::vector<RehearsedRun> runs;  ///< the smallest value of `ahead` first
  StreamedChoice choice(const StayingWeights& staying, std::int64_t ahead = 0) const;
};

/// A choice of the weights that stay.
struct StayingWeights {
  StreamedChoice choice;   ///< without numbers of buffers, sizes of pieces, and values of `ahead`
  std::int64_t least = 0;  ///< the fewest bytes of memory into which each group fits (least_room())
  std::optional<double> at_least = {};         ///< a lower bound of the seconds, if it is known
  std::vector<RehearsedRuns> by_buffers = {};  ///< empty until they are needed
};

/// The choices with a number of micro-batches in flight.
struct ChoicesInFlight {
  std::int64_t in_flight = 1;
  std::vector<bool> boundaries_stay = {};    ///< StreamedChoice::boundaries_stay
  std::vector<StayingWeights> staying = {};  ///< the last of them keeps the fewest weights
  std::int64_t count = 0;                    ///< how many runs there are
};

/// The choices with one fate of boundaries, without those of waiting_ways.hpp and alternating_ways.hpp.
class RehearsedChoices {
 public:
  RehearsedChoices(const PolicyRequest& request, const CommonParameters& common,
                   const StreamedKeys& keys, bool offload);
  RehearsedChoices(const RehearsedChoices&) = delete;
  RehearsedChoices& operator=(const RehearsedChoices&) = delete;

  const StreamedCase& streamed() const { return streamed_; }
  const std::optional<StreamedCase>& shared() const { return shared_; }  ///< on_shared_links()
  bool offload() const { return offload_; }
  /// Returns whether only a replay of the plan gives its seconds. A rehearsal would ignore that loads and saves share a
  /// link, or that host memory may be full.
  bool replayed() const {
    return (streamed_.shared_link && streamed_.overlap) || (streamed_.host_limited && offload_);
  }
  std::int64_t most_buffers() const;  ///< the greatest number of buffers that is tried
  /// Returns the number of passes in a step.
  double passes(std::int64_t in_flight) const;
  /// Returns the sizes of pieces that are tried.
  std::vector<std::int64_t> pieces(std::int64_t in_flight) const;

  std::vector<ChoicesInFlight>& all() { return all_; }
  /// Returns a lower bound of the seconds of all runs with these weights.
  double at_least(StayingWeights& staying) const;
  /// Returns StayingWeights::by_buffers.
  std::vector<RehearsedRuns>& by_buffers(StayingWeights& staying) const;

 private:
  void add(std::int64_t in_flight, const std::vector<bool>& boundaries_stay);
  std::vector<StreamedChoice> residencies(const StreamedChoice& choice) const;
  std::vector<BufferCount> buffers() const {
    return buffer_counts(streamed_, offload_, keys_.buffers);
  }
  std::vector<std::int64_t> aheads(const StreamedChoice& choice) const;

  StreamedCase streamed_;
  std::optional<StreamedCase> shared_;
  StreamedKeys keys_;
  bool offload_;
  std::vector<ChoicesInFlight> all_;
};

/// What is known about all choices of streamed inference.
class KnownChoices {
 public:
  /// Returns the choices with this fate of boundaries. Calls `make` if they are not known yet.
  template <class Make>
  std::shared_ptr<RehearsedChoices> of(bool offload, const Make& make) {
    std::shared_ptr<RehearsedChoices>& known = by_fate_[offload ? 1 : 0];
    if (!known) known = make();
    return known;
  }
  /// Returns the seconds of the plan whose actions may wait for memory, and that stays within `room` bytes
  /// (waiting_ways.hpp). `make` computes them if they are not known yet.
  template <class Make>
  double waiting(const StreamedChoice& choice, std::int64_t room, const Make& make) {
    return seconds_of(waiting_, {choice, room}, make);
  }
  /// Returns the seconds of the plan with alternating passes that stays within `room` bytes (alternating_ways.hpp).
  template <class Make>
  double alternating(const StreamedChoice& choice, std::int64_t room, const Make& make) {
    return seconds_of(alternating_, {choice, room}, make);
  }

 private:
  using Seconds = std::map<std::pair<StreamedChoice, std::int64_t>, double>;
  template <class Make>
  static double seconds_of(Seconds& all, const Seconds::key_type& key, const Make& make) {
    const auto known = all.find(key);
    return known != all.end() ? known->second : all[key] = make();
  }

  std::array<std::shared_ptr<RehearsedChoices>, 2> by_fate_;
  Seconds waiting_, alternating_;
};

}  // namespace sluice
