// Makes transfers that share links run one after the other, in listing order. passes/turns.hpp does the same with waits,
// in an order of the caller. There, a transfer waits until the data of the transfer before it have arrived. Here, it
// waits only until the links are free.
#pragma once

#include "plan/plan.hpp"

namespace sluice {

/// Puts all transfers that use the same link into one stream: the first of their streams. This stream may belong to one
/// device, and some of its transfers to another one. Returns false if a computation uses such a link. Then not all
/// transfers can be in one stream, and the plan does not change.
bool use_one_stream(Plan& plan);

}  // namespace sluice
