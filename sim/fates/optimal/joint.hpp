// Makes a view of a chain that branches. The view itself does not branch, so code for simpler chains works on it. In
// the view, the joint boundary between two stages contains all tensors that are made before it and read after it. A
// shortcut is a tensor that skips stages. A shortcut is a part of every joint boundary between the stage that makes it
// and the stage that reads it. Suppose that an earlier joint boundary keeps a shortcut on the device. Then the dynamic
// programme of frontier.hpp does not count the shortcut again in a later joint boundary (ChainCarried). In all other
// cases, a shortcut counts once per joint boundary. At the end, a tape of the view is turned into a tape of the chain.
// The tape of the chain holds and copies each tensor only once. So it never needs more bytes than the tape of the view.
#pragma once

#include "fates/optimal/frontier.hpp"
#include "fates/tape.hpp"

namespace sluice {

/// Returns the view of a chain. If the chain does not branch, returns the chain itself.
Chain joint_chain(const Chain& chain);

/// Turns a tape of the view into a tape of the chain. Several joint boundaries may contain the same boundary. This
/// boundary is on the device as long as one of these joint boundaries is there. The boundary is saved together with the
/// first of them that is saved. It is loaded when the next operation reads it.
Tape separate(const Chain& chain, const Tape& joint_tape);

/// Returns whether the tape of a point never needs more bytes than the point. It may need more if there are several
/// devices, because a frontier counts their memories as one. It may also need more if the weights of only some stages
/// take turns, because a frontier counts these weights only in passes of their own stage.
bool points_have_all_bytes(const Chain& chain);

/// `frontier` is a frontier of the view. Returns the index of a point whose tape fits into the budget after it is
/// turned into a tape of the chain. If no point fits, returns the number of points. A point that exceeds the budget in
/// the view is tried, too, because the tape of the chain may need fewer bytes.
std::size_t point_within(const Chain& chain, const Frontier& frontier, std::int64_t budget);

/// Returns the tape of this point, turned into a tape of the chain. If it does not fit into host memory, points with
/// fewer bytes are tried. If none of them fits there, returns the tape of the point with the fewest bytes. If no point
/// fits into the budget, returns an empty tape.
Tape tape_within(const Chain& chain, const Frontier& frontier, std::int64_t budget);

/// Returns frontiers of the view for a run whose copies run during computation: one for each price of a copy
/// (FrontierSettings::copy_price). If host memory is limited, there are further frontiers, whose tapes use fewer bytes
/// of it. The other settings are those of `settings`.
std::vector<Frontier> overlapped_frontiers(const Chain& chain,
                                           const std::vector<double>& copy_prices,
                                           FrontierSettings settings);

}  // namespace sluice
