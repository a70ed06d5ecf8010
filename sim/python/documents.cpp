// The binding of scenarios for the Python module. Python passes documents to this file as JSON texts, and gets
// documents as JSON texts.
#include <pybind11/stl.h>

#include "base/error.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "python/module.hpp"
#include "python/scenario_handle.hpp"
#include "run/recording/recording.hpp"
#include "scenario/question_bound.hpp"
#include "study/answer/answer.hpp"

namespace sluice::python {
namespace {

ScenarioHandle make(Value written, const std::string& path, std::vector<std::string> overrides) {
  auto scenario = std::make_shared<const Scenario>(scenario_from(written, path, overrides));
  return {std::move(written), path, std::move(overrides), std::move(scenario)};
}

/// Returns true if `path` is `model.file` or `platform.file`. An override with such a path names another file. So all
/// files of the scenario must be read again.
bool names_file(const std::vector<std::string>& path) {
  return path.size() == 2 && path[1] == "file" && (path[0] == "model" || path[0] == "platform");
}

/// Returns the scenario `base` with `overrides` in addition to its own overrides. If names_file() is true for one of
/// them, all files are read again. Otherwise the files of the model and of the platform are not read again, even if
/// their content has changed. A new `model=NAME` or `platform=NAME` only reads the file of that name. If an override
/// replaces a whole mapping, earlier overrides of keys in this mapping are dropped.
ScenarioHandle with(const ScenarioHandle& base, const std::vector<std::string>& overrides) {
  // The overrides of `base` and the new overrides. If the files are read again, all these overrides are applied again.
  std::vector<std::string> all = base.overrides;
  bool read_again = false;
  for (const std::string& text : overrides) {
    const std::vector<std::string> path = parse_override(text).path;
    read_again = read_again || names_file(path);
    std::erase_if(all, [&](const std::string& earlier) {
      return path.size() == 1 && parse_override(earlier).path[0] == path[0];
    });
  }
  all.insert(all.end(), overrides.begin(), overrides.end());
  if (read_again) return make(base.written, base.path, std::move(all));
  auto scenario = std::make_shared<const Scenario>(
      scenario_from(base.scenario->document, base.path, overrides));
  return {base.written, base.path, std::move(all), std::move(scenario)};
}

}  // namespace

void bind_documents(py::module_& module) {
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
            PlannedScenario planned = plan_scenario(*self.scenario);
            return PlanHandle{.plan = std::make_shared<const Plan>(std::move(planned.plan)),
                              .cut = std::move(planned.cut.compared)};
          },
          FreeGil())
      .def(
          "question_bound",
          [](const ScenarioHandle& self) { return question_bound(*self.scenario).seconds; },
          FreeGil())
      .def("answer",
           [](const ScenarioHandle& self, const PlanHandle& plan, const py::buffer& recording) {
             const py::buffer_info info = recording.request();
             const auto size = static_cast<std::size_t>(info.size * info.itemsize);
             const std::string_view bytes(static_cast<const char*>(info.ptr), size);
             const py::gil_scoped_release free;
             const Summary summary = summary_of(bytes);
             return answer_json(*self.scenario, summary,
                                notes_of({*self.scenario, *plan.plan, summary, plan.cut}));
           })
      .def("stages", [](const ScenarioHandle& self) { return stages_of(*self.scenario); })
      .def("text", [](const ScenarioHandle& self) { return self.scenario->text(); })
      .def("json", [](const ScenarioHandle& self) { return to_json(self.scenario->document, 0); })
      .def("provenance",
           [](const ScenarioHandle& self) {
             return to_yaml_with_provenance(self.scenario->document);
           })
      .def_property_readonly("path", [](const ScenarioHandle& self) { return self.path; })
      .def_property_readonly("name", [](const ScenarioHandle& self) { return self.scenario->name; })
      .def_property_readonly("question",
                             [](const ScenarioHandle& self) { return self.scenario->question; })
      .def_property_readonly("platform",
                             [](const ScenarioHandle& self) {
                               // The cast is safe: Python gets no function that changes a platform.
                               auto& platform = const_cast<Platform&>(self.scenario->platform);
                               return std::shared_ptr<Platform>(self.scenario, &platform);
                             })
      .def_property_readonly("dtype", [](const ScenarioHandle& self) {
        return std::string(name_of(self.scenario->workload.dtype));
      });
}

}  // namespace sluice::python
