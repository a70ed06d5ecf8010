// fits: memory by class, the largest micro-batch of each card of a list, what keeps the next one
// from fitting, and what gradient accumulation buys. It asks what `sluice run` asks: a candidate
// fits when its scenario has a plan and the plan passes its check.
//
// The largest is searched by what is lacked (base/fit_search.hpp). That a smaller one always fits
// where a larger one does is not proven, so the next three above are asked, too, and the search
// goes on where one fits; but for fates that search themselves (optimal), which refuse by the least
// bytes of all their choices: these grow with the samples, and only the next one is asked.
//
// Bytes, seconds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/value.hpp"
#include "plan/plan.hpp"

namespace sluice {

struct FitsRequest {
  Value model;                   ///< a scenario's `model:` mapping, its file included
  std::vector<Value> platforms;  ///< sluice-platform/1; none: one device without limit
  std::string mode = "training";
  std::string dtype = "float32";
  std::string optimizer = {};  ///< empty: the scenario's default
  std::string policy = "resident";
  std::string fates = "keep_all";
  std::optional<std::int64_t> batch = {};   ///< samples of a batch for which accumulation is asked
  std::vector<std::string> overrides = {};  ///< KEY=VALUE of the scenario, laid over all that
  /// Hears now and then which share of the work is done, about.
  std::function<void(double share)> progress = {};
};

/// What is on the device at the first moment of its peak, one thing running at a time: the least
/// that so many samples need.
struct Footprint {
  std::int64_t samples = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, tensor_class_count> by_class{};  ///< adds up to `bytes`
  std::string action;                                       ///< that runs then: "1B0"
  std::string doing;                                        ///< "backward of conv2"
  bool operator==(const Footprint&) const = default;
};

/// A batch in micro-batches.
struct Accumulation {
  std::int64_t batch = 0, micro_batch = 0;
  double step_s = 0;  ///< of a batch, in the steady state
};

/// One card: a platform and its device.
struct CardFit {
  std::string platform, device;
  std::string cost;                      ///< the cost model that its seconds are by
  std::optional<std::int64_t> capacity;  ///< bytes for tensors; none: without limit
  std::int64_t reserved = 0;             ///< bytes of the memory beside those
  /// Samples of the largest micro-batch, and so of the largest batch without accumulation; 0: not
  /// one sample fits; none: any number does.
  std::optional<std::int64_t> largest;
  std::optional<Footprint> one;   ///< of one sample
  std::optional<Footprint> most;  ///< of the largest; without limit, of the batch asked for
  /// Of the next one, were there memory for it. None where what is done follows from the memory
  /// there is (fates or stages that adapt to it): then there is no such thing.
  std::optional<Footprint> next;
  std::string refusal;           ///< of the next one, as `sluice run` says it
  std::string refusal_headline;  ///< its first line
  Shortage shortage;             ///< its numbers
  std::optional<double> step_s;  ///< of the largest, in the steady state; none: not measured
  std::optional<Accumulation> accumulation;
  std::string scenario;  ///< YAML of the largest, or of the smallest that does not fit
  std::string error;     ///< why this card cannot be asked at all; then nothing else is known
};

struct FitsReport {
  std::string model;
  std::string optimizer;  ///< empty for inference
  /// The cost model knows the seconds of this micro-batch alone (steps and accumulation of others
  /// are left out); 0: of any.
  std::int64_t measured_batch = 0;
  std::vector<CardFit> cards;  ///< as the platforms were given
};

/// No batch is larger: what a scenario can ask.
inline constexpr std::int64_t most_samples = 1'000'000'000'000;

/// A card that cannot be asked (it has no rate for the dtype) says so itself. Throws InputError
/// where none can be asked, UsageError (an override of what is searched or asked for otherwise),
/// Interrupted.
FitsReport fits(const FitsRequest& request);

}  // namespace sluice
