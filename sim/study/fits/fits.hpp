// For each card of a list, `fits` finds the largest micro-batch, the bytes of each class of tensors, and the time of a
// batch with gradient accumulation. `fits` also says why the next larger micro-batch does not fit. A micro-batch fits
// if `sluice run` could run it: its scenario has a plan, and the plan has enough memory and does not block, as check()
// (execute/feasibility.hpp) finds out. All sizes are in bytes, and all times are in seconds. If a micro-batch does not
// fit, the refusal says how many bytes are missing. The search uses this number to choose the next size that it tries
// (base/fit_search.hpp). It is possible that a larger micro-batch fits although a smaller one does not. So when the
// search has found a size, the next three larger sizes are also tried. If one of them fits, the search continues from
// there. This is not done for a strategy for fates that searches (`optimal`). Such a strategy refuses a micro-batch
// only if even the fates that need the least bytes do not fit. The least bytes grow with the samples. So with such a
// strategy, if a micro-batch does not fit, no larger micro-batch fits.
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
  /// Documents in the format sluice-platform/1. If the list is empty, the question is about one device with unlimited
  /// memory.
  std::vector<Value> platforms;
  std::string mode = "training";
  std::string dtype = "float32";
  std::string optimizer = {};  ///< name of the optimizer; empty for the scenario's default
  std::string policy = "resident";
  std::string fates = "keep_all";
  /// The number of samples of the batch that the user requests. It is divided into micro-batches that fit.
  std::optional<std::int64_t> batch = {};
  /// Overrides of the form KEY=VALUE. They are applied to the scenario after all other fields of the request.
  std::vector<std::string> overrides = {};
  /// This function is called from time to time. `share` is the estimated share of the work that is already done.
  std::function<void(double share)> progress = {};
};

/// How much of a device's memory `samples` samples need at least. It is what the device holds at the first moment of
/// its peak, if actions run one at a time.
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

/// A batch that is divided into micro-batches, whose gradients are accumulated.
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
  /// The number of samples of the largest micro-batch that fits. Without accumulation, this is also the largest batch.
  /// If not even one sample fits, the value is 0. If every number of samples fits, the value is nullopt.
  std::optional<std::int64_t> largest;
  std::optional<Footprint> one_sample;  ///< the footprint of one sample
  /// The footprint of the largest micro-batch. If the memory has no limit, it is the footprint of the requested batch
  /// instead.
  std::optional<Footprint> largest_footprint;
  /// The footprint that the next larger micro-batch would have if the memory were unlimited. If fates or stages adapt
  /// to the available memory, a plan for unlimited memory cannot be compared with the other plans, and the value is
  /// nullopt.
  std::optional<Footprint> next;
  std::string refusal;  ///< why the next larger micro-batch does not fit, as in `sluice run`
  std::string refusal_headline;  ///< the first line of the text `refusal`
  Shortage shortage;             ///< the numbers in the text `refusal`
  /// In the steady state: the seconds of a step with the largest micro-batch, if they are known.
  std::optional<double> step_s;
  std::optional<Accumulation> accumulation;
  /// The scenario as YAML, with the largest micro-batch as its batch. If not even one sample fits, its batch is one
  /// sample.
  std::string scenario;
  /// Why the question cannot be asked for this card, or "". If it cannot be asked, all other fields after `cost` are
  /// empty.
  std::string error;
};

struct FitsReport {
  std::string model;
  std::string optimizer;  ///< empty for inference
  /// If the cost model knows seconds for only one size of micro-batch, this size. The answer then has seconds for this
  /// size only. Otherwise, the value is 0.
  std::int64_t measured_batch = 0;
  std::vector<CardFit> cards;  ///< one element per platform, in the order of the request
};

/// The largest batch that a scenario can have.
inline constexpr std::int64_t most_samples = 1'000'000'000'000;

/// Answers the request for each card. If the question cannot be asked for a card, its CardFit has the error. An example
/// is a device that has no rate for the dtype. If it cannot be asked for any card, throws InputError. Throws UsageError
/// for two kinds of overrides. The first sets a key that fits() sets itself while it searches for the largest
/// micro-batch, such as workload.batch. The second sets a key for which `sluice fits` has an option, such as --policy.
/// Throws Interrupted.
FitsReport fits(const FitsRequest& request);

}  // namespace sluice
