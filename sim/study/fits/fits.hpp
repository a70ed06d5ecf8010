// For each card of a list, `fits` finds the largest micro-batch, the bytes of each class of tensors, and the time of a
// batch with gradient accumulation. `fits` also says why the next larger micro-batch does not fit. A micro-batch fits
// if `sluice run` could run it: its scenario has a plan, and the plan passes the check. All sizes are in bytes, and all
// times are in seconds. The search for the largest micro-batch uses the shortage of bytes that a refusal reports
// (base/fit_search.hpp). A larger micro-batch may fit although a smaller one does not fit: nothing rules this out. So
// the next three larger micro-batches are also tried. If one of them fits, the search continues. A strategy for fates
// that searches (`optimal`) is different. Its refusal names the least bytes of all its choices, and the least bytes
// grow with the samples. So only the next larger micro-batch is tried.
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
  Value model;  ///< the `model:` mapping of a scenario, with the content of the model's file
  /// Documents of the form sluice-platform/1. If the list is empty, the platform is one device with unlimited memory.
  std::vector<Value> platforms;
  std::string mode = "training";
  std::string dtype = "float32";
  std::string optimizer = {};  ///< name of the optimizer; empty for the scenario's default
  std::string policy = "resident";
  std::string fates = "keep_all";
  /// The number of samples of the batch for which accumulation is shown.
  std::optional<std::int64_t> batch = {};
  /// Overrides KEY=VALUE of the scenario, which are applied last.
  std::vector<std::string> overrides = {};
  /// This function is called from time to time with the estimated share of the work that is done.
  std::function<void(double share)> progress = {};
};

/// Actions run one at a time. The bytes that the device then holds at the first moment of its peak. `samples` samples
/// need at least this memory.
struct Footprint {
  std::int64_t samples = 0;
  std::int64_t bytes = 0;
  /// Bytes of each class of tensors, which add up to `bytes`.
  std::array<std::int64_t, tensor_class_count> by_class{};
  /// The action at the first moment of the peak, such as "1B0".
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
  std::int64_t reserved = 0;             ///< bytes of the device's memory that tensors may not use
  /// The number of samples of the largest micro-batch. This is also the largest batch without accumulation. If not even
  /// one sample fits, the value is 0. If any number of samples fits, the value is nullopt.
  std::optional<std::int64_t> largest;
  std::optional<Footprint> one_sample;  ///< the footprint of one sample
  /// The footprint of the largest batch that fits. If the memory has no limit, this is the footprint of the requested
  /// batch.
  std::optional<Footprint> largest_footprint;
  /// The footprint that the next larger micro-batch would have in an unlimited memory. Fates or stages may adapt to the
  /// available memory. The plan for an unlimited memory is then another plan, and the value is nullopt.
  std::optional<Footprint> next;
  std::string refusal;  ///< why the next larger micro-batch does not fit, as in `sluice run`
  std::string refusal_headline;  ///< the first line of the text `refusal`
  Shortage shortage;             ///< the numbers in the text `refusal`
  /// Seconds of a step with the largest micro-batch in the steady state, if they are known.
  std::optional<double> step_s;
  std::optional<Accumulation> accumulation;
  /// The scenario as YAML, with the largest micro-batch. If not even one sample fits, it has one sample.
  std::string scenario;
  /// Why the question cannot be asked for this card. If `error` is set, all fields after `cost` are empty.
  std::string error;
};

struct FitsReport {
  std::string model;
  std::string optimizer;  ///< empty for inference
  /// The cost model may know seconds for only one size of micro-batch. The value is then this size, and the answer has
  /// seconds for this size only. For any other cost model, the value is 0.
  std::int64_t measured_batch = 0;
  std::vector<CardFit> cards;  ///< one element per platform, in the order of the request
};

/// The largest batch that a scenario can have.
inline constexpr std::int64_t most_samples = 1'000'000'000'000;

/// Answers the request for each card. A card cannot be asked if, for example, its device has no rate for the dtype. The
/// CardFit of this card has the error. If no card can be asked, throws InputError. Some keys are set by the search or
/// have their own options. Throws UsageError at an override of such a key. Throws Interrupted.
FitsReport fits(const FitsRequest& request);

}  // namespace sluice
