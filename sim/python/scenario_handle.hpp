// A scenario as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::python {

/// A scenario and the documents from which it was made, so that a scenario with other overrides can be made from them.
struct ScenarioHandle {
  Value written;     ///< the document as written, before includes and overrides
  std::string path;  ///< the document's file, to whose folder includes are relative
  std::vector<std::string> overrides;
  std::shared_ptr<const Scenario> scenario;
};

}  // namespace sluice::python
