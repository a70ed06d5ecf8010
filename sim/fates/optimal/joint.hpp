// A chain that branches, seen as one that does not. Each joint boundary holds all tensors that cross
// between two stages, so a shortcut is a part of every boundary that it crosses. What is written for
// chains that do not branch, such as the dynamic programme of frontier.hpp, works on this view: it
// counts a shortcut once per boundary. Its tapes are then turned into tapes of the chain itself,
// which hold and copy each tensor once and need no more bytes.
#pragma once

#include "fates/optimal/frontier.hpp"
#include "fates/tape.hpp"

namespace sluice {

/// The view; the chain itself if it does not branch.
Chain joint_chain(const Chain& chain);

/// The tape of the chain that does what a tape of its view does. A boundary is on the device while
/// one of the joint boundaries that hold it is. It is saved with the first of them that is saved,
/// and loaded where it is read next after it has left.
Tape separate(const Chain& chain, const Tape& joint_tape);

/// The number of a point of the view's frontier whose tape needs at most this many bytes: the last
/// point that the view says, or a later one where the chain itself needs less; size() if none fits.
std::size_t point_within(const Chain& chain, const Frontier& frontier, std::int64_t budget);

}  // namespace sluice
