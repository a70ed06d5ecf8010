// Makes a view of a chain that branches. The view itself does not branch, so code for simpler chains works on it. In
// the view, a joint boundary holds all tensors that cross from one stage to the next. A shortcut is a tensor that
// skips stages. It is a part of every joint boundary that it crosses. The dynamic programme of frontier.hpp counts a
// shortcut once where an earlier joint boundary holds it (ChainCarried). Elsewhere, a shortcut counts once per joint
// boundary. At the end, a tape of the view is turned into a tape of the chain. The tape of the chain holds and copies
// each tensor once. It never needs more bytes than the tape of the view.
#pragma once

#include "fates/optimal/frontier.hpp"
#include "fates/tape.hpp"

namespace sluice {

/// Returns the view of a chain. If the chain does not branch, returns the chain itself.
Chain joint_chain(const Chain& chain);

/// Returns the tape of the chain for a tape of its view. Several joint boundaries may contain one boundary. The
/// boundary is on the device as long as one of these joint boundaries is there. It is saved with the first joint
/// boundary that is saved. Later it is loaded for the next operation that reads it.
Tape separate(const Chain& chain, const Tape& joint_tape);

/// Returns the index of a point whose tape fits into the budget. Returns size() if no point fits. Parameter
/// `frontier` is a frontier of the view. Points that exceed the budget in the view are tried, too: they may fit in
/// the chain itself.
std::size_t point_within(const Chain& chain, const Frontier& frontier, std::int64_t budget);

}  // namespace sluice
