// A proven lower bound on the seconds of a training step of a chain within a budget, for any
// schedule that runs each forward pass at least once and each backward pass once.
//
// The argument looks at one moment, the turning point: the first backward pass, that of the last
// stage. What that operation reads and makes is on the device. Whatever else a later backward pass
// reads is on the device too, or its stage runs again afterwards, or it is loaded afterwards (and
// saved, but for the input). A stage that runs again needs its input the same way. Which it is to
// be for each tensor is a chain of choices with one constraint, the bytes; its Lagrangian
// relaxation is solved exactly for each price of a byte, and every price gives a bound. What runs
// again twice, and memory at any other moment, is not in the bound: it is close where no stage
// needs to run again twice.
//
// Serial: computation and copies take turns. Overlapped: computation, saves and loads have an
// engine each; the longest busy one of them bounds the step, however micro-batches and steps
// overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/passes/chain.hpp"

namespace sluice {

enum class Copies : std::uint8_t { serial, overlapped };

/// Seconds; infinity where the turning point alone does not fit.
double fate_bound(const Chain& chain, std::int64_t budget, Copies copies);

}  // namespace sluice
