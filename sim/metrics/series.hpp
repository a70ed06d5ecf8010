// Collects quantities over time while the simulation runs: utilisation by stream, complete samples, seconds of
// recomputation, and watts. The time of the run is divided into equal bins, at most 10,000. For a plan with very many
// streams, there are fewer bins, but at least 100. So for up to about 2,500 streams, all series together take at most
// 2 MB. When the simulation runs beyond the last bin, all bins become twice as wide.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "trace/series.hpp"
#include "trace/span.hpp"

namespace sluice {

class SeriesSink final : public Sink {
 public:
  /// `width` is the width of the bins at the start, in seconds, such as (lower bound of the run) / 5000. `plan` must
  /// outlive this object.
  SeriesSink(const Plan& plan, double width);

  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}
  /// Adds the repetitions of a part of the run to the bins. If there are more repetitions than bins, and very many
  /// repeated spans (Repetition::is_folded), it would take long to add every repetition by itself. Then each span adds
  /// one number to each bin: the sum of what all its repetitions add to this bin.
  void repeat(const Repetition& repetition) override;

  /// Returns the series. Utilisation is the share of a bin in which the stream is busy. Samples and recomputation are
  /// sums since the start of the run. A sample counts from the moment at which its answer has arrived. The watts of a
  /// bin are the idle power + (joules of the bin) / (seconds of the bin). The joules of an action and of its bytes on
  /// links are spread evenly over its seconds. A plan without watts has no series of watts.
  SeriesTable table() const;

 private:
  using Bins = std::vector<double>;
  /// The numbers of an action that span() reads for every span. They are copied, because reading whole actions would
  /// take longer.
  struct Effect {
    double joules;   ///< above idle power
    double samples;  ///< the number of samples that are done at the end of the action
    std::uint32_t stream;
    bool recompute;
  };
  void reach(double time);  ///< widens the bins until they reach `time`
  void spread(Bins& bins, double start, double end, double amount);
  /// Adds all repetitions of a span to the bins, and spreads each repetition like spread().
  void spread_again(Bins& bins, const Repetition& repetition, double start, double end,
                    double amount);
  SeriesTable::Series cumulative(const Bins& bins, std::size_t count) const;
  double length(std::size_t bin) const;  ///< the seconds of the bin that lie within the run

  const Plan& plan_;
  std::size_t most_bins_;
  double width_, per_second_;  ///< the seconds of a bin, and the bins per second
  double end_ = 0;             ///< the seconds of the run so far
  double idle_w_ = 0;
  std::vector<Effect> effects_;  ///< by action
  std::vector<Bins> busy_;       ///< seconds by stream
  Bins samples_, recompute_, dynamic_;
};

}  // namespace sluice
