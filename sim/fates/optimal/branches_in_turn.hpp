// Searches for the fates of a chain that branches, or whose stages are on several devices, or whose weights take
// turns. Copies and computation take turns. For a small chain, the search tries all combinations of choices. For a
// larger chain, it starts from a known tape and from tapes of the relaxation (relaxation.hpp), and changes one choice
// or two choices at a time. A boundary that several backward passes read is loaded for each of them, or stays on the
// device after a load.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/tape.hpp"

namespace sluice {

/// Returns tapes that offload all boundaries and compute all inner tensors again. If several devices take turns, they
/// put every output into host memory anyway. So each stage can run again from there, while its backward pass waits for
/// the next stage's gradient. If micro-batches run side by side, the last stage has outputs for all of them before its
/// first backward pass. So a tape that offloads these outputs, too, needs far fewer bytes. Otherwise, there are no
/// tapes.
std::vector<Tape> tapes_again(const Chain& chain);

/// Returns the fastest tape that the search finds within the budget. If it finds none, returns an empty tape.
/// `known` is a tape within the budget, or an empty tape.
Tape search_branches(const Chain& chain, std::int64_t budget, const Tape& known);

}  // namespace sluice
