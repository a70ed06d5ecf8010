// Describes streamed inference in which two passes are computed at the same time. The groups (groups.hpp)
// are divided into front groups and back groups. The slots of two passes alternate: a slot of a back group of one pass,
// then a slot of a front group of the next pass. Large answers of the back groups are saved while the front groups
// compute. Without alternation, computation would wait for the saves of the answers. Later, the link would wait for the
// next answers.
#pragma once

#include <cstdint>

#include "planning/program.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

struct AlternatingShape {
  std::size_t first_back =
      0;  ///< the first of the back groups; all groups before it are front groups
  std::int64_t in_flight = 1;  ///< the number of micro-batches of a pass
  /// The number of answers that may be on the device at the same time. If several groups make parts of an answer, parts
  /// are counted.
  std::int64_t buffers = 1;
};

/// Returns the step as a program. All loads come as late as possible. `streamed` holds the bytes and seconds of the
/// groups for boundaries that stay on the device.
Program alternating_program(const PolicyRequest& request, const CommonParameters& common,
                            const StreamedCase& streamed, const AlternatingShape& shape);

/// Returns the first of the back groups: the first group that makes a part of the answer. If this is group 0, passes
/// cannot alternate.
std::size_t first_back_group(const StreamedCase& streamed);

}  // namespace sluice
