#include "workload/rounds.hpp"

#include <algorithm>

#include "workload/workload.hpp"

namespace sluice {

std::vector<std::int64_t> in_flight_choices(std::int64_t micro_batches, std::int64_t growth) {
  std::vector<std::int64_t> counts;
  for (std::int64_t passes = 1; passes < micro_batches;
       passes += std::max<std::int64_t>(1, passes / growth))
    counts.push_back((micro_batches + passes - 1) / passes);
  counts.push_back(1);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Round round_of(const Workload& workload, std::int64_t at_least) {
  const std::int64_t all = workload.micro_batches_per_step();
  std::int64_t count = std::min(std::max<std::int64_t>(at_least, 1), all);
  while (all % count != 0) ++count;
  return {count, all / count};
}

}  // namespace sluice
