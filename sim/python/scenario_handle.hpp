// A scenario as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::python {

/// A scenario and the documents from which it was made, so that it can be made again with changes.
struct ScenarioHandle {
  Value written;     ///< as written, before includes and overrides
  std::string path;  ///< its includes are relative to this path
  std::vector<std::string> overrides;
  std::shared_ptr<const Scenario> scenario;
};

}  // namespace sluice::python
