// Quantities over time, gathered while the simulation runs: utilisation by stream, samples done,
// seconds of recomputation, watts. Equal bins, at most 10,000 (fewer where there are very many
// streams, so that all series stay below 2 MB): when time goes beyond them, the bins double.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "trace/series.hpp"
#include "trace/span.hpp"

namespace sluice {

class SeriesSink final : public Sink {
 public:
  /// `width`: s, of a bin to begin with, such as lower bound / 5000. `plan` must outlive this.
  SeriesSink(const Plan& plan, double width);

  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}
  /// Of very many spans (Repetition::is_folded) the sum of each bin, without walking through them.
  void repeat(const Repetition& repetition) override;

  /// Utilisation is the share of a bin in which the stream is busy. Samples count from when they
  /// are available, recomputation is cumulative, too. Watts are idle power plus, evenly over each
  /// action, its joules and those of the bytes on its links; a plan without watts has none.
  SeriesTable table() const;

 private:
  using Bins = std::vector<double>;
  /// What span() looks at for every span, side by side: actions themselves are large.
  struct Effect {
    double joules;   ///< above idle
    double samples;  ///< done at the end
    std::uint32_t stream;
    bool recompute;
  };
  void reach(double time);  ///< makes the bins wide enough
  void spread(Bins& bins, double start, double end, double amount);
  /// The same of all times that this comes again.
  void spread_again(Bins& bins, const Repetition& repetition, double start, double end,
                    double amount);
  SeriesTable::Series cumulative(const Bins& bins, std::size_t count) const;
  double length(std::size_t bin) const;  ///< s, of a bin within the run

  const Plan& plan_;
  std::size_t most_bins_;
  double width_, per_second_;  ///< s of a bin; bins of a second
  double end_ = 0;             ///< s, of the run so far
  double idle_w_ = 0;
  std::vector<Effect> effects_;  ///< by action
  std::vector<Bins> busy_;       ///< s, by stream
  Bins samples_, recompute_, dynamic_;
};

}  // namespace sluice
