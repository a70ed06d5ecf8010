// A scenario as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::python {

/// A scenario and what it was made from, so that it can be made again with changes.
struct ScenarioHandle {
  Value written;     ///< before includes and overrides
  std::string path;  ///< what its includes are relative to
  std::vector<std::string> overrides;
  std::shared_ptr<const Scenario> scenario;
};

}  // namespace sluice::python
