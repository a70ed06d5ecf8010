// Lower bounds of seconds and of peaks for batches of any size. For a few batches of one to four micro-batches, the
// sums over a training step are computed (TrainingSums). Those of a larger batch follow from them, because each
// further pass and each further micro-batch adds a fixed amount.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "planning/training/training.hpp"

namespace sluice {

class WorkOfBatches {
 public:
  /// `request` and `order` must outlive this object. If a batch of the request is one micro-batch, at_least() may be
  /// called only for such batches: larger steps are then not made.
  WorkOfBatches(const PolicyRequest& request, const TrainingOrder& order);

  /// Returns a lower bound on the seconds of a run of `batches` batches. Each batch has `micro_batches` micro-batches,
  /// which are computed in `passes` passes over the model. The run has as many steps as the request.
  /// Returns 0 if the devices are not alike, because the sums have the prices of one device.
  double at_least(double batches, std::int64_t micro_batches, std::int64_t passes) const;

 private:
  const PolicyRequest& request_;
  const TrainingOrder& order_;
  bool priced_alike_;  ///< whether all devices are alike
  TrainingSums one_, two_passes_, each_, pass_;
  /// What a batch saves if it follows another batch of the same step: the device may still hold the weights with which
  /// the batch begins.
  TrainingSums between_;
};

/// Lower bounds on the peaks of the devices. They are computed when they are needed first.
class PeaksOfBatches {
 public:
  /// The stages to which `request` refers must outlive this object.
  PeaksOfBatches(PolicyRequest request, TrainingOrder order)
      : request_(std::move(request)), order_(std::move(order)) {}

  /// Returns a lower bound with `in_flight` micro-batches side by side, if a batch has one or several passes.
  DeviceBytes at_least(std::int64_t in_flight, bool several_passes);

 private:
  PolicyRequest request_;
  TrainingOrder order_;
  /// The peaks with 1, 2 and 3 micro-batches in flight: for a batch of one pass, and for a batch of two passes, of which
  /// the second has one micro-batch.
  std::array<std::array<std::optional<DeviceBytes>, 3>, 2> few_ = {};
};

}  // namespace sluice
