// The binding of sweeps for the Python module: points, answers and the store. The file sweep.py of the package wraps
// this binding in classes.
#include "study/sweep/sweep.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "base/interrupt.hpp"
#include "base/version.hpp"
#include "document/load.hpp"
#include "metrics/metric.hpp"
#include "python/module.hpp"
#include "study/check/baseline.hpp"
#include "study/sweep/store.hpp"

namespace sluice::python {
namespace {

Changes changes_of(const std::vector<std::string>& overrides) {
  Changes changes;
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    changes.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return changes;
}

py::list number_names(const PointResult& result) {
  py::list names;
  if (result.names)
    for (const NumberName& name : *result.names)
      names.append(py::make_tuple(name.text(), name.unit));
  return names;
}

void bind_points(py::module_& module) {
  py::class_<Points>(module, "Points")
      .def(py::init(
          [](const std::vector<std::pair<std::string, std::vector<std::string>>>& axes, bool zip) {
            std::vector<Axis> list;
            for (const auto& [key, values] : axes) list.push_back({key, values});
            return Points(std::move(list), zip ? Over::zip : Over::grid);
          }))
      .def_static(
          "rows",
          [](const std::vector<std::string>& keys,
             const std::vector<std::vector<std::string>>& rows) { return Points(keys, rows); })
      .def("__len__", &Points::size)
      .def("overrides", &Points::overrides)
      .def("text", &Points::text)
      .def("place", &Points::place);
}

void bind_result(py::module_& module) {
  py::class_<PointResult>(module, "PointResult")
      .def_property_readonly(
          "status", [](const PointResult& self) { return std::string(name_of(self.status)); })
      .def_readonly("reason", &PointResult::reason)
      .def_readonly("message", &PointResult::message)
      .def_readonly("shortage", &PointResult::shortage)
      .def_readonly("bound_by", &PointResult::bound_by)
      .def_readonly("chosen", &PointResult::chosen)
      .def_readonly("executor", &PointResult::executor)
      .def_readwrite("verified", &PointResult::verified)
      .def_readonly("numbers", &PointResult::numbers)
      .def("number", &PointResult::number)
      .def("names", &number_names)
      .def("packed", [](const PointResult& self) { return py::bytes(packed(self)); })
      .def_static("unpacked",
                  [](const py::bytes& bytes) {
                    return unpacked_result(static_cast<std::string_view>(bytes));
                  })
      .def_static("failed", &failed_result);
}

}  // namespace

std::function<void(std::size_t, std::size_t)> progress_of(const py::object& progress) {
  return [progress](std::size_t done, std::size_t total) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(done, total);
  };
}

void bind_sweep(py::module_& module) {
  bind_points(module);
  bind_result(module);
  py::class_<Variants>(module, "Variants")
      .def(py::init([](const std::string& text, const std::string& path) {
             return std::make_unique<Variants>(parse_text(text, path), path,
                                               std::vector<std::string>{});
           }),
           FreeGil())
      .def(
          "ask",
          [](const Variants& self, const std::vector<std::string>& overrides) {
            return evaluate(self, overrides);
          },
          FreeGil())
      .def(
          "key",
          [](const Variants& self, const std::vector<std::string>& overrides) {
            return known_point(self, overrides).key;
          },
          FreeGil());

  py::class_<Store>(module, "SweepStore")
      .def(py::init([](const std::string& path) { return std::make_unique<Store>(path); }))
      .def("find", &Store::find)
      .def("put",
           [](Store& self, const std::string& key, const std::string& scenario,
              const std::vector<std::string>& overrides, const PointResult& result) {
             self.put({key, scenario, changes_of(overrides), result});
           })
      .def("set_verified", &Store::set_verified)
      .def("commit", &Store::commit, FreeGil())
      .def("__len__", &Store::size);

  module.def("points_to_verify", &points_to_verify);
  module.def("better", [](const std::string& metric) {
    return std::string(words_of(metric_catalog().find(metric).better));
  });
  module.def("library_digest", [] { return std::string(library_digest()); });
  module.def("run_sweep", [](const Variants& variants, const Points& points, std::size_t jobs,
                             Store* store, bool retry_failed, const py::object& progress) {
    SweepRequest request{.variants = variants, .points = points, .jobs = jobs};
    request.store = store;
    request.retry_failed = retry_failed;
    request.progress = progress_of(progress);
    const py::gil_scoped_release free;
    return run_sweep(request).outcomes;
  });
}

}  // namespace sluice::python
