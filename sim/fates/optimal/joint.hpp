// Makes a view of a chain that branches. The view itself does not branch. In the view, a joint boundary holds all
// tensors that cross between two stages. A tensor that skips stages (a shortcut) is a part of every joint boundary that
// it crosses. Code for chains that do not branch works on the view. Where an earlier joint boundary holds a shortcut
// (ChainCarried), the dynamic programme of frontier.hpp counts the shortcut only once. Elsewhere, a shortcut counts
// once per joint boundary. A tape of the view is then turned into a tape of the chain. The tape of the chain holds and
// copies each tensor once. It does not need more bytes than the tape of the view.
#pragma once

#include "fates/optimal/frontier.hpp"
#include "fates/tape.hpp"

namespace sluice {

/// Returns the view of a chain. If the chain does not branch, returns the chain itself.
Chain joint_chain(const Chain& chain);

/// Returns the tape of the chain for a tape of its view. A boundary is on the device as long as at least one joint
/// boundary that contains it is on the device. A boundary is saved when the first of these joint boundaries is saved. A
/// boundary that has left the device is loaded when the next operation reads it.
Tape separate(const Chain& chain, const Tape& joint_tape);

/// Returns the index of a point whose tape fits into the budget, or size() if no point fits. Parameter `frontier` is a
/// frontier of the view. Points that exceed the budget in the view are tried, too, because the chain itself may need
/// fewer bytes than its view.
std::size_t point_within(const Chain& chain, const Frontier& frontier, std::int64_t budget);

}  // namespace sluice
