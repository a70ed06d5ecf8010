// The parameters that several policies have in common: their records, how they are read, and where they are refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// Returns the parameters that several policies have in common: `device`, `overlap`, `buffers` and `outputs`.
std::vector<Field> common_parameters();
/// Returns only the parameter `outputs`.
Field outputs_parameter();

/// The usual number of buffers: one buffer for the micro-batch that is computed, and one for a transfer.
inline constexpr std::int64_t usual_buffers = 2;

/// The values of the common parameters. `buffers` is 1 without overlap, and `usual_buffers` for the value `auto`.
struct CommonParameters {
  const Device& device;
  std::string host;
  bool overlap;
  std::int64_t buffers;
  bool return_outputs;
};
CommonParameters read_common(const PolicyRequest& request, const Reader& parameters);

/// Throws InputError at the first of `keys` that the scenario has. The message says that the key is for inference, and
/// ends with `reason`.
void refuse_in_training(const Reader& parameters, const std::vector<const char*>& keys,
                        const std::string& reason);
/// Does the same for keys that are only for training.
void refuse_in_inference(const Reader& parameters, const std::vector<const char*>& keys,
                         const std::string& reason);
/// For a scenario of training: throws InputError if it has the key `buffers` or `outputs`. These keys have no meaning
/// in training.
void refuse_common_in_training(const Reader& parameters);

}  // namespace sluice
