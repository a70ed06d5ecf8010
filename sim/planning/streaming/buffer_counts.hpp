// The numbers of buffers that streamed inference tries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planning/streaming/groups.hpp"

namespace sluice {

/// A number of buffers that is tried. With n buffers, n inputs and n results in transfer have room on the device. See
/// StreamedChoice for the other members.
struct BufferCount {
  std::int64_t most = 1;
  bool spares = false, inputs_cross = true, inputs_first = false;
};

/// Returns the numbers of buffers that streamed inference tries. `offload` says whether tensors for the next group go
/// through host memory. `most` is the scenario's key `buffers`, if the scenario gives it. Then no returned number of
/// buffers is greater.
std::vector<BufferCount> buffer_counts(const StreamedCase& streamed, bool offload,
                                       std::optional<std::int64_t> most);

}  // namespace sluice
