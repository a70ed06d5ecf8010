// Cost models: layer x device -> seconds. One file a cost model; cost/catalog.cpp lists them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/catalog.hpp"
#include "document/record.hpp"
#include "model/model.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// What one operator does for a number of samples.
struct Work {
  double flop = 0;
  double bytes = 0;  ///< read and written in the device's memory: inputs, weights, output
  std::optional<double> measured_s = {};  ///< seconds, where the model brings them for that batch
  double written = 0;                     ///< of the bytes: the output, or the gradients
  /// Whose work it is, for messages. None: nobody's, or an input's.
  const Layer* layer = nullptr;
  std::string_view pass = {};       ///< forward, backward
  std::int64_t samples = 0;         ///< asked for
  std::int64_t measured_batch = 0;  ///< the model's
};

/// A cost model: seconds of one operator on a device.
struct CostModel {
  std::string name;
  std::string summary;
  std::string source;  ///< paper, section
  double (*seconds)(const Work& work, const Device& device, DType dtype);
  /// It knows the seconds of the model's measured_batch, and of no other number of samples.
  bool of_measured_batch = false;
};

const Catalog<CostModel>& cost_catalog();

/// The forward pass of `layer` for `samples` samples: inputs, cache and weights (of a table or of
/// experts those that are picked, at most) are read, the output written.
Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// The backward pass of `layer`: its own FLOP; what it keeps, the weights and the output's gradient
/// are read, the gradients of inputs and weights are written.
Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

}  // namespace sluice
