// The work to be computed: samples, micro-batches and steps, and how the network is trained.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.hpp"
#include "workload/training.hpp"

namespace sluice {

enum class Mode : std::uint8_t { inference, training };
std::string_view name_of(Mode mode);

/// The work to be computed. A batch is a whole number of micro-batches. A step is
/// `batches_per_step` batches.
struct Workload {
  DType dtype = DType::float32;
  std::int64_t batch = 1;        ///< the number of samples of a batch
  std::int64_t micro_batch = 1;  ///< the number of samples of a micro-batch; a divisor of the batch
  std::int64_t batches_per_step = 1;
  std::int64_t steps = 1;
  std::optional<Training> training = {};  ///< absent for inference

  Mode mode() const { return training ? Mode::training : Mode::inference; }
  std::int64_t samples_per_step() const { return batches_per_step * batch; }
  std::int64_t micro_batches_per_step() const { return batches_per_step * (batch / micro_batch); }
};

}  // namespace sluice
