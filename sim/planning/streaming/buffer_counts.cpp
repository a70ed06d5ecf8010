#include "planning/streaming/buffer_counts.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t few_slots =
    1000;  ///< if a step has at most this many slots, more numbers are tried

}  // namespace

std::vector<BufferCount> buffer_counts(const StreamedCase& streamed, bool offload,
                                       std::optional<std::int64_t> most) {
  if (!streamed.overlap) return {{.most = 1}};
  std::vector<BufferCount> counts = {
      {.most = 3}, {.most = 8}, {.most = 3, .spares = true}, {.most = 8, .spares = true}};
  const auto groups = static_cast<std::int64_t>(streamed.groups.size());
  if (streamed.micro_batches <= few_slots / groups) {
    for (const std::int64_t more : {2, 4, 5, 6}) counts.push_back({.most = more});
    // These choices have `inputs_cross` = false: during a run, only the first input of the next run is loaded. So
    // large inputs of the next run take less room, and the weights for the next run can be loaded earlier.
    if (offload && groups > 1)
      for (const std::int64_t more : {3, 2})
        counts.push_back({.most = more, .inputs_cross = false});
    // These choices have `inputs_first` = true: a long transfer of weights does not delay an input, but more transfers
    // of weights come late.
    if (groups > 1)
      for (const std::int64_t more : {3, 8}) counts.push_back({.most = more, .inputs_first = true});
  }
  counts.push_back({.most = 1});
  if (!most) return counts;
  // A rehearsal, which computes the order of loads, loads an input at most one step early. So numbers of buffers far
  // above the number of micro-batches of a step are not tried.
  const std::int64_t greatest = std::ranges::max(counts, {}, &BufferCount::most).most;
  const std::int64_t useful = std::min(*most, std::max(greatest, streamed.micro_batches + 1));
  std::erase_if(counts, [&](const BufferCount& some) {
    return some.most > useful || (some.most == useful && some.inputs_cross && !some.inputs_first);
  });
  if (useful > 1) counts.insert(counts.begin(), {.most = useful, .spares = true});
  counts.insert(counts.begin(), {.most = useful});
  return counts;
}

}  // namespace sluice
