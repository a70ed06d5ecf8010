// Computes the seconds in which a device's memories move the bytes of a pass.
#pragma once

#include <string>

#include "base/error.hpp"
#include "cost/cost.hpp"

namespace sluice {

/// A memory of a device has no rate at which the device could read or write an operand.
struct MissingRate : InputError {
  MissingRate(const std::string& message, std::string of_device, std::string of_memory)
      : InputError(message), device(std::move(of_device)), memory(std::move(of_memory)) {}
  std::string device, memory;
};

/// Returns the seconds in which the device reads and writes the operands, at the full rates of their memories. If
/// `side_by_side` is true, this is the longest time of a single memory. Otherwise the times of the memories are added.
/// Bytes of the query's work that belong to no operand count as bytes in the device's default memory. Throws InputError
/// if a rate is missing, or if a memory is behind a link. The error is a MissingRate if an operand has no rate.
double memory_seconds(const Query& query, bool side_by_side);

}  // namespace sluice
