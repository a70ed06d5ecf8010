// A chain that branches, seen as one that does not. Each joint boundary holds all tensors that cross between two
// stages, so a shortcut is a part of every boundary that it crosses. Code for chains that do not branch, such as the
// dynamic programme of frontier.hpp, works on this view. It counts a shortcut once per boundary that the shortcut
// crosses. Its tapes are then turned into tapes of the chain itself, which hold and copy each tensor once and need no
// more bytes.
#pragma once

#include "fates/optimal/frontier.hpp"
#include "fates/tape.hpp"

namespace sluice {

/// Returns the view, or the chain itself if it does not branch.
Chain joint_chain(const Chain& chain);

/// The tape of the chain that does what a tape of its view does. A boundary is on the device while one of the joint
/// boundaries that hold it is. It is saved when the first of these joint boundaries is saved. If it has left the
/// device, it is loaded when an operation reads it next.
Tape separate(const Chain& chain, const Tape& joint_tape);

/// Returns the index of a point of the view's frontier whose tape fits into the budget, or size() if no point fits.
/// Later points than the frontier allows are tried, too, because the chain itself may need fewer bytes than its view.
std::size_t point_within(const Chain& chain, const Frontier& frontier, std::int64_t budget);

}  // namespace sluice
