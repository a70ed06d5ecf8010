// Answers `fits` for one card: the largest micro-batch, its memory, and its time.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/fit_search.hpp"
#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"

namespace sluice {

class Card {
 public:
  /// The search calls `on_answer` each time that it has tried a plan.
  Card(Scenario scenario, std::function<void()> on_answer);

  /// If the cost model knows seconds for only one size of micro-batch, returns this size. Otherwise, returns 0.
  static std::int64_t measured_batch(const Scenario& scenario);

  /// Returns the largest micro-batch that fits on the card, with its memory and time. `batch` is the batch that the
  /// user requests (FitsRequest::batch). Throws InputError, Interrupted.
  CardFit answer(std::optional<std::int64_t> batch);

 private:
  struct FittingPlan {
    std::int64_t batch = 0, micro_batch = 0;
    std::shared_ptr<const Plan> plan;
  };

  bool has_seconds(std::int64_t micro_batch) const;
  bool searches() const;
  Plan plan(Scenario& scenario, std::int64_t batch, std::int64_t micro_batch);
  FitAnswer ask(Scenario& scenario, std::int64_t batch, std::int64_t micro_batch);
  bool fits(std::int64_t batch, std::int64_t micro_batch);
  double step_s(std::int64_t batch, std::int64_t micro_batch);
  std::int64_t begin();
  std::int64_t largest();
  std::optional<Footprint> footprint(std::int64_t samples, bool enforced);
  void add_footprints(CardFit& fit, std::optional<std::int64_t> batch);
  /// Throws InputError if the batch has too many micro-batches.
  std::optional<Accumulation> accumulation(std::int64_t batch, const CardFit& fit,
                                           bool is_requested);

  Scenario asked_;   ///< the scenario that the user asked about
  Scenario serial_;  ///< the scenario for one step, without overlap
  Scenario timed_;   ///< the scenario with the requested cost model
  std::function<void()> on_answer_;
  const Device& device_;
  FittingPlan made_;  ///< the last plan that fit
  /// Why the last refused micro-batch does not fit. At the end of the search, this micro-batch has one sample more than
  /// the largest micro-batch that fits.
  std::optional<Infeasible> refusal_;
  /// Whether a micro-batch was refused because its number of bytes is too large for 64 bits.
  bool is_beyond_counts_ = false;
};

}  // namespace sluice
