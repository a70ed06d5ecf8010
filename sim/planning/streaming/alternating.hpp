// Describes streamed inference in which two passes are under way at the same time. The groups (groups.hpp) are divided
// into front groups and back groups. The slots of two passes alternate: a slot of a back group of one pass, then a slot
// of a front group of the next pass. So the large answers of the back groups are saved while front groups compute.
// Without alternation, the back groups would wait for the saves of their answers, and no answers would be saved while
// the front groups compute.
#pragma once

#include <cstdint>

#include "planning/program.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

struct AlternatingShape {
  std::size_t first_back =
      0;  ///< the first of the back groups; all groups before it are front groups
  std::int64_t in_flight = 1;  ///< the number of micro-batches of a pass
  /// The number of answers that may be on the device at the same time. If several groups make one part of the answer
  /// each, this is a number of parts.
  std::int64_t buffers = 1;
};

/// Returns the step as a program in which all loads come as late as possible. `streamed` must be made with `offload` =
/// false (streamed_case()): boundaries stay on the device.
Program alternating_program(const PolicyRequest& request, const CommonParameters& common,
                            const StreamedCase& streamed, const AlternatingShape& shape);

/// Returns the first of the back groups. It is the first group that makes a part of the answer. Passes cannot alternate
/// if this is group 0, because then there are no front groups.
std::size_t first_back_group(const StreamedCase& streamed);

}  // namespace sluice
