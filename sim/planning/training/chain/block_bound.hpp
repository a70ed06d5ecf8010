// A lower bound of the seconds of a training run with many micro-batches in flight, on devices with limited memory.
// Each operation of the tape is done for all micro-batches in flight, one after the other: here, this is a block. From
// block to block, a device cannot load or save more bytes ahead than its memory has room for. So the copies that belong
// to a few blocks cannot hide behind the computations of other blocks.
//
// The bytes and seconds of a block are linear in the number of micro-batches. So they follow from two steps with 2 and
// 3 micro-batches in flight. This is much faster than to make the whole step and to go through it (step_clock.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct Platform;
struct PolicyRequest;
struct StepShape;
struct TrainingOrder;

/// With fewer micro-batches in flight, the whole step is made about as fast as the two small ones.
constexpr std::int64_t least_of_blocks = 16;

struct BlockRun {
  const Platform& platform;
  const std::vector<std::string>& devices;  ///< they must be alike
  std::int64_t steps = 1;
  std::int64_t memory = 0;  ///< no device holds more than this number of bytes
};
/// Returns the bound. It holds for all places of the loads if copies run during computation. Without a limit of memory,
/// it is hardly ever greater than the sums of computations and copies.
double block_bound(const StepShape& shape, const BlockRun& run);

/// Returns the bound for the step whose fates the strategy chooses, or 0 if it has too few micro-batches in flight, or
/// if `memory` is not limited.
double block_bound(const PolicyRequest& request, const TrainingOrder& order,
                   const std::optional<std::int64_t>& memory);

}  // namespace sluice
