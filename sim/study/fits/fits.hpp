// For each card of a list, `fits` finds the largest micro-batch, the bytes that each class of tensors needs, and the
// time of a batch with gradient accumulation. `fits` also says why the next larger micro-batch does not fit. A
// micro-batch fits if `sluice run` could run it: its scenario has a plan, and the plan passes the check. All sizes are
// in bytes, and all times are in seconds. The search for the largest micro-batch uses the shortage of bytes that a
// refusal reports (base/fit_search.hpp). Nobody has proven that a smaller micro-batch always fits when a larger
// micro-batch fits. So the next three larger micro-batches are also tried, and the search continues if one of these
// three fits. If a strategy for fates searches (`optimal`), its refusal names the least bytes of all its choices. The
// least bytes grow with the samples, so with such a strategy only the next larger micro-batch is tried.
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

/// The bytes that the device holds at the first moment of its peak if actions run one at a time. This is the least
/// memory that `samples` samples need.
struct Footprint {
  std::int64_t samples = 0;
  std::int64_t bytes = 0;
  /// Bytes of each class of tensors, which add up to `bytes`.
  std::array<std::int64_t, tensor_class_count> by_class{};
  /// The action that runs at the first moment of the peak, such as "1B0".
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
  /// The number of samples of the largest micro-batch, which is also the largest batch without
  /// accumulation. The value is 0 if not even one sample fits, and nullopt if any number of samples fits.
  std::optional<std::int64_t> largest;
  std::optional<Footprint> one_sample;  ///< the footprint of one sample
  /// The footprint of the largest batch that fits. If the memory has no limit, this is the footprint of the requested
  /// batch.
  std::optional<Footprint> largest_footprint;
  /// The footprint that the next larger micro-batch would have in an unlimited memory. The value is nullopt if fates or
  /// stages adapt to the available memory, because the plan for an unlimited memory would then be another plan.
  std::optional<Footprint> next;
  std::string refusal;  ///< why the next larger micro-batch does not fit, as in `sluice run`
  std::string refusal_headline;  ///< the first line of the text `refusal`
  Shortage shortage;             ///< the numbers in the text `refusal`
  /// Seconds of a step with the largest micro-batch in the steady state, if they are known.
  std::optional<double> step_s;
  std::optional<Accumulation> accumulation;
  /// The scenario as YAML, with the largest micro-batch, or with one sample if not even one sample fits.
  std::string scenario;
  /// Why the question cannot be asked for this card; if `error` is set, all fields after `cost` are empty.
  std::string error;
};

struct FitsReport {
  std::string model;
  std::string optimizer;  ///< empty for inference
  /// If the cost model knows seconds for only one size of micro-batch, this is that size, and the answer has seconds
  /// only for this size. The value is 0 if the cost model knows seconds for any size.
  std::int64_t measured_batch = 0;
  std::vector<CardFit> cards;  ///< one element per platform, in the order of the request
};

/// The largest batch that a scenario can have.
inline constexpr std::int64_t most_samples = 1'000'000'000'000;

/// Answers the request for each card. If a card cannot be asked, for example because the device has no rate for the
/// dtype, its CardFit has the error. Throws InputError when no card can be asked. Throws UsageError for an override of
/// a key that the search sets, or that has its own option. Throws Interrupted.
FitsReport fits(const FitsRequest& request);

}  // namespace sluice
