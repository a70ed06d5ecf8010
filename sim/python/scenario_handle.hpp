// A scenario as Python holds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::python {

/// A scenario, with the document and the overrides from which it was made. So Python can make another scenario from the
/// same document, with other overrides.
struct ScenarioHandle {
  Value written;     ///< the document as it is written, before includes and overrides
  std::string path;  ///< path of the document; includes are relative to its folder
  std::vector<std::string> overrides;
  std::shared_ptr<const Scenario> scenario;
};

}  // namespace sluice::python
