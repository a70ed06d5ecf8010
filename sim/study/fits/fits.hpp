// For each card of a list, `fits` finds the memory by class, the largest micro-batch, and the gain by gradient
// accumulation. It also says why the next larger micro-batch does not fit. It asks the same questions as `sluice run`:
// a candidate fits when its scenario has a plan and the plan passes its check. All sizes are bytes, and all times are
// seconds. The search for the largest micro-batch uses the reported shortage (base/fit_search.hpp). Nobody has proven
// that a smaller micro-batch always fits when a larger one does. So the next three larger micro-batches are also tried,
// and the search continues if one of them fits. If a strategy for fates searches (`optimal`), its refusal names the
// least bytes of all its choices. These bytes grow with the samples, so with such a strategy only the next larger
// micro-batch is tried.
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
  Value model;  ///< a scenario's `model:` mapping, its file included
  /// Documents of the form sluice-platform/1. If there are none, the platform is one device without limit.
  std::vector<Value> platforms;
  std::string mode = "training";
  std::string dtype = "float32";
  std::string optimizer = {};  ///< if empty, the scenario's default
  std::string policy = "resident";
  std::string fates = "keep_all";
  std::optional<std::int64_t> batch = {};   ///< samples of a batch for which accumulation is shown
  std::vector<std::string> overrides = {};  ///< KEY=VALUE of the scenario, applied last
  /// Called from time to time with the estimated part of the work that is done.
  std::function<void(double share)> progress = {};
};

/// The bytes that the device holds at the first moment of its peak when actions run one at a time. This is the least
/// memory that this number of samples needs.
struct Footprint {
  std::int64_t samples = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, tensor_class_count> by_class{};  ///< adds up to `bytes`
  /// The action that runs at that moment: "1B0"
  std::string action;
  std::string doing;  ///< what the action does: "backward of conv2"
  bool operator==(const Footprint&) const = default;
};

/// A batch that is divided into micro-batches.
struct Accumulation {
  std::int64_t batch = 0, micro_batch = 0;
  double step_s = 0;  ///< seconds of a batch in the steady state
};

/// One card: a platform and its device.
struct CardFit {
  std::string platform, device;
  std::string cost;                      ///< the cost model that gives the seconds
  std::optional<std::int64_t> capacity;  ///< bytes for tensors; nullopt if there is no limit
  std::int64_t reserved = 0;             ///< bytes of the memory that tensors may not use
  /// Samples of the largest micro-batch, which is also the largest batch without accumulation. It is 0 if not even one
  /// sample fits, and nullopt if any number fits.
  std::optional<std::int64_t> largest;
  std::optional<Footprint> one_sample;  ///< the footprint of one sample
  /// The footprint of the largest batch that fits. If there is no limit, it is the footprint of the requested batch.
  std::optional<Footprint> largest_footprint;
  /// The footprint of the next larger micro-batch, as if there were memory for it. It is nullopt if fates or stages
  /// adapt to the available memory, because in this case there is no such footprint.
  std::optional<Footprint> next;
  std::string refusal;  ///< why the next larger micro-batch does not fit, as in `sluice run`
  std::string refusal_headline;  ///< the first line of `refusal`
  Shortage shortage;             ///< the numbers of `refusal`
  /// Seconds of a step with the largest micro-batch in the steady state, if they are known.
  std::optional<double> step_s;
  std::optional<Accumulation> accumulation;
  /// YAML for the largest micro-batch, or for the smallest that does not fit.
  std::string scenario;
  std::string error;  ///< why no question can be asked; if it is set, the rest is empty
};

struct FitsReport {
  std::string model;
  std::string optimizer;  ///< empty for inference
  /// The only micro-batch for which the cost model knows seconds. Steps and accumulation of other micro-batches are
  /// left out. It is 0 if the cost model knows seconds for any micro-batch.
  std::int64_t measured_batch = 0;
  std::vector<CardFit> cards;  ///< in the order of the platforms
};

/// The largest batch that a scenario can have.
inline constexpr std::int64_t most_samples = 1'000'000'000'000;

/// If a card cannot be asked, for example because it has no rate for the dtype, its CardFit has the error. Throws
/// InputError when no card can be asked. Throws UsageError for an override of a key that the search sets, or that has
/// its own option. Throws Interrupted.
FitsReport fits(const FitsRequest& request);

}  // namespace sluice
