// What one run of the clock of a training step (step_run.hpp) records.
#pragma once

#include <cstddef>
#include <vector>

#include "planning/program.hpp"

namespace sluice {

/// The times of a round in seconds: `computed` says when each operation has ended, `saved` and `loaded` say when the data
/// of each save and load have arrived.
struct StepTimes {
  StepTimes(const Program& step, std::size_t saves, std::size_t loads)
      : computed(step.operations.size(), 0), saved(saves, 0), loaded(loads, 0) {}
  std::vector<double> computed, saved, loaded;
};

/// What grows during equal passes besides StepTimes, in seconds: by how much each device is behind because of its memory
/// (MemoryRun::behind()), and the loads that operations have needed (StepRun::needed_seconds()).
struct StepGrowth {
  std::vector<double> behind, needed;
};

}  // namespace sluice
