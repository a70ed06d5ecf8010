// Scenarios for Python. Documents cross as text: JSON in both directions.
#include <pybind11/stl.h>

#include "base/error.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "python/module.hpp"
#include "scenario/scenario.hpp"

namespace sluice::python {
namespace {

/// A scenario and what it was made from, so that it can be made again with changes.
struct ScenarioHandle {
  Value written;     ///< before includes and overrides
  std::string path;  ///< what its includes are relative to
  std::vector<std::string> overrides;
  std::shared_ptr<const Scenario> scenario;
};

ScenarioHandle make(Value written, const std::string& path, std::vector<std::string> overrides) {
  auto scenario = std::make_shared<const Scenario>(scenario_from(written, path, overrides));
  return {std::move(written), path, std::move(overrides), std::move(scenario)};
}

/// Does an override say which file is included? Then all is read again.
bool names_include(const Override& override) {
  const auto& path = override.path;
  const bool included = path[0] == "model" || path[0] == "platform";
  return included && (path.size() == 1 || (path.size() == 2 && path[1] == "file"));
}

/// Files that are read already are not read again: a scenario stays what it was when it was loaded.
ScenarioHandle with(const ScenarioHandle& base, const std::vector<std::string>& overrides) {
  std::vector<std::string> all = base.overrides;
  all.insert(all.end(), overrides.begin(), overrides.end());
  for (const std::string& text : overrides)
    if (names_include(parse_override(text))) return make(base.written, base.path, std::move(all));
  auto scenario = std::make_shared<const Scenario>(
      scenario_from(base.scenario->document, base.path, overrides));
  return {base.written, base.path, std::move(all), std::move(scenario)};
}

/// Is `text` a string to YAML, as it stands?
bool is_plain(const std::string& text) {
  try {
    const Value value = parse_override("x=" + text).value;
    return value.kind() == Value::Kind::string && value.text() == text;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void bind_documents(py::module_& module) {
  module.def("is_plain", &is_plain);
  py::class_<ScenarioHandle>(module, "Scenario")
      .def_static(
          "load",
          [](const std::string& path, std::vector<std::string> overrides) {
            return make(load_file(path), path, std::move(overrides));
          },
          FreeGil())
      .def_static(
          "parse",
          [](const std::string& text, const std::string& name, const std::string& path,
             std::vector<std::string> overrides) {
            return make(parse_text(text, name), path, std::move(overrides));
          },
          FreeGil())
      .def("with_overrides", &with, FreeGil())
      .def(
          "plan",
          [](const ScenarioHandle& self) {
            return PlanHandle{std::make_shared<const Plan>(make_plan(*self.scenario))};
          },
          FreeGil())
      .def("stages", [](const ScenarioHandle& self) { return stages_of(*self.scenario); })
      .def("text", [](const ScenarioHandle& self) { return self.scenario->text(); })
      .def("json", [](const ScenarioHandle& self) { return to_json(self.scenario->document, 0); })
      .def("provenance",
           [](const ScenarioHandle& self) { return to_yaml(self.scenario->document, true); })
      .def_property_readonly("path", [](const ScenarioHandle& self) { return self.path; })
      .def_property_readonly("name", [](const ScenarioHandle& self) { return self.scenario->name; })
      .def_property_readonly("question",
                             [](const ScenarioHandle& self) { return self.scenario->question; })
      .def_property_readonly("platform",
                             [](const ScenarioHandle& self) {
                               // Python sees nothing of it that could change.
                               auto& platform = const_cast<Platform&>(self.scenario->platform);
                               return std::shared_ptr<Platform>(self.scenario, &platform);
                             })
      .def_property_readonly("dtype", [](const ScenarioHandle& self) {
        return std::string(name_of(self.scenario->workload.dtype));
      });
}

}  // namespace sluice::python
