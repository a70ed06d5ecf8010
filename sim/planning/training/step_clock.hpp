// How fast a training step can be at best with its loads in given places: the listing order of its
// plan as arithmetic on a few arrays, as if every copy were alone on its links and nothing ever
// waited for memory. So no execution of that plan is faster, and a plan need not be made to see
// that it is too slow. Seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/load_places.hpp"
#include "planning/program.hpp"
#include "platform/platform.hpp"

namespace sluice {

class StepClock {
 public:
  /// Of so many rounds on these devices, where copies run beside computation. `step` must outlive
  /// this.
  StepClock(const Program& step, const Platform& platform, const std::vector<std::string>& devices,
            std::int64_t rounds);

  /// Loads of the step, in the order in which they are needed, and where each is listed.
  double at_least(const std::vector<Program::Load>& loads,
                  const std::vector<LoadPlace>& places) const;

 private:
  friend class StepRun;
  struct Way {  ///< between host memory and a device
    std::size_t stream = 0;
    double latency_s = 0;
  };
  const Program& step_;
  HomeWrites writes_;
  std::int64_t rounds_;
  std::vector<Way> down_, up_;      ///< indexed by device
  std::vector<double> save_s_;      ///< indexed by instance
  std::vector<double> weights_s_;   ///< per stage: of those that stay
  std::vector<std::size_t> saves_;  ///< per operation: number of its first save; then of all
  std::size_t streams_ = 0;         ///< of copies
  double compute_s_ = 0;            ///< of a round
};

}  // namespace sluice
