// Describes streamed inference in which two passes are computed at the same time. The groups (groups.hpp)
// are divided into front groups and back groups. The slots of the back groups of a pass alternate with the
// slots of the front groups of the next pass. If the back groups make large answers, these answers are saved
// while the front groups compute. If each pass computed its groups one after the other, computation would
// wait for the saves of the answers, and later the link would wait for the computation of the next answers.
#pragma once

#include <cstdint>

#include "planning/program.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

struct AlternatingShape {
  std::size_t first_back =
      0;  ///< the first of the back groups; all groups before it are front groups
  std::int64_t in_flight = 1;  ///< the number of micro-batches of a pass
  /// The number of answers (or parts of an answer) that may be on the device while they are computed and saved.
  std::int64_t buffers = 1;
};

/// Returns the step as a program whose loads come as late as possible. `streamed` holds the bytes
/// and seconds of the groups when boundaries stay on the device.
Program alternating_program(const PolicyRequest& request, const CommonParameters& common,
                            const StreamedCase& streamed, const AlternatingShape& shape);

/// Returns the first of the back groups: the first group that makes a part of the answer. If this is group 0, passes
/// cannot alternate.
std::size_t first_back_group(const StreamedCase& streamed);

}  // namespace sluice
