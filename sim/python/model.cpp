// The binding of models and stages for the Python module.
#include "model/model.hpp"

#include <pybind11/stl.h>

#include "document/load.hpp"
#include "python/module.hpp"
#include "stage/stage.hpp"
#include "study/layer_table/columns.hpp"

namespace sluice::python {
namespace {

/// A model, and the mapping `model:` of a scenario from which the model was read.
struct ModelHandle {
  Value use;
  std::shared_ptr<const Model> model;
};

ModelHandle read(Value use) {
  auto model = std::make_shared<const Model>(read_model(use));
  return {std::move(use), std::move(model)};
}

ModelHandle parse(const std::string& text, const std::string& name) {
  Value use = Value::make_map();
  use.set("definition", parse_text(text, name));
  return read(std::move(use));
}

py::object python_of(const Cell& cell) {
  return std::visit(
      Overloaded{[](std::monostate) -> py::object { return py::none(); },
                 [](const Shape& shape) -> py::object { return py::tuple(py::cast(shape)); },
                 [](const ByAxis& axes) -> py::object { return py::tuple(py::cast(axes.numbers)); },
                 [](const auto& value) -> py::object { return py::cast(value); }},
      cell);
}

/// Returns the columns of `sluice model` as a list of tuples (key, meaning, values).
py::list columns_of(const std::vector<TableRow>& rows, bool with_platform) {
  py::list columns;
  for (const ModelColumn& column : model_columns()) {
    if (column.of_platform && !with_platform) continue;
    py::list values;
    for (const TableRow& row : rows) values.append(python_of(column.cell(row)));
    columns.append(py::make_tuple(column.key, column.summary, values));
  }
  return columns;
}

py::list stage_columns(const ModelHandle& self, const std::shared_ptr<Platform>& platform,
                       const std::string& device, const std::string& dtype,
                       const std::string& cost) {
  if (!platform)
    return columns_of(stage_table(*self.model, dtype_of(dtype), nullptr), /*with_platform=*/false);
  const Device& place = device.empty() ? platform->devices.front() : platform->device(device);
  const Target target(*platform, place, dtype_of(dtype),
                      cost.empty() ? plain_cost(default_cost(*platform).name) : plain_cost(cost));
  return columns_of(stage_table(*self.model, dtype_of(dtype), &target), /*with_platform=*/true);
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<ModelHandle>(module, "Model")
      .def_static(
          "load",
          [](const std::string& path, const std::vector<std::string>& overrides) {
            return read(load_model_use(path, overrides));
          },
          FreeGil())
      .def_static("parse", &parse, FreeGil())
      .def_static("from_use", [](const std::string& text,
                                 const std::string& name) { return read(parse_text(text, name)); })
      .def(
          "with_overrides",
          [](const ModelHandle& self, const std::vector<std::string>& overrides) {
            Value use = self.use;
            apply_overrides(use, overrides);
            return read(std::move(use));
          },
          FreeGil())
      .def("json", [](const ModelHandle& self) { return to_json(self.use, 0); })
      .def("stage_columns", &stage_columns)
      .def_property_readonly("name", [](const ModelHandle& self) { return self.model->name; })
      .def_property_readonly("summary", [](const ModelHandle& self) { return self.model->summary; })
      .def_property_readonly("layers",
                             [](const ModelHandle& self) { return self.model->layers.size(); })
      .def_property_readonly("parameters",
                             [](const ModelHandle& self) { return self.model->parameters(); })
      .def_property_readonly("activations",
                             [](const ModelHandle& self) { return self.model->activations(); })
      .def_property_readonly("macs", [](const ModelHandle& self) { return self.model->macs(); })
      .def_property_readonly("flop", [](const ModelHandle& self) { return self.model->flop(); });
  py::class_<Stage>(module, "Stage")
      .def_readonly("name", &Stage::name)
      .def_readonly("first", &Stage::first)
      .def_readonly("last", &Stage::last)
      .def_readonly("weight_bytes", &Stage::weight_bytes)
      .def_readonly("input_bytes", &Stage::input_bytes)
      .def_readonly("output_bytes", &Stage::output_bytes)
      .def_readonly("workspace_bytes", &Stage::workspace_bytes)
      .def_readonly("cache_bytes", &Stage::cache_bytes)
      .def_readonly("macs", &Stage::macs)
      .def_readonly("flop", &Stage::flop);
}

}  // namespace sluice::python
