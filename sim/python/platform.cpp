// The binding of platforms for the Python module.
#include "platform/platform.hpp"

#include <pybind11/stl.h>

#include "document/load.hpp"
#include "planning/copy_time.hpp"
#include "python/module.hpp"

namespace sluice::python {
namespace {

/// A platform with the document from which it was read.
struct LoadedPlatform {
  Value document;
  std::shared_ptr<Platform> platform;
};

LoadedPlatform load_platform(Value document) {
  require_format(document, "platform");
  auto platform = std::make_shared<Platform>(read_platform(document));
  return {std::move(document), std::move(platform)};
}

std::map<std::string, double> rates_of(const Device& device) {
  std::map<std::string, double> rates;
  for (const auto& [dtype, rate] : device.rate) rates[std::string(name_of(dtype))] = rate;
  return rates;
}

void bind_device(py::module_& module) {
  py::class_<DeviceMemory>(module, "DeviceMemory")
      .def_readonly("pool", &DeviceMemory::pool)
      .def_readonly("own", &DeviceMemory::own)
      .def_readonly("capacity", &DeviceMemory::capacity)
      .def_readonly("read", &DeviceMemory::read)
      .def_readonly("write", &DeviceMemory::write);
  py::class_<Device>(module, "Device")
      .def_readonly("name", &Device::name)
      .def_readonly("efficiency", &Device::efficiency)
      .def_property_readonly("roofline_compute",
                             [](const Device& self) { return self.roofline.compute; })
      .def_property_readonly("roofline_memory",
                             [](const Device& self) { return self.roofline.memory; })
      .def_property_readonly("capacity", [](const Device& self) { return self.memory().capacity; })
      .def_property_readonly("memory_bandwidth",
                             [](const Device& self) { return self.memory().bandwidth(); })
      .def_readonly("memories", &Device::memories)
      .def_readonly("threads", &Device::threads)
      .def_readonly("launch_overhead", &Device::launch_overhead)
      .def_readonly("idle_w", &Device::idle_w)
      .def_readonly("busy_w", &Device::busy_w)
      .def_readonly("tiles", &Device::tiles)
      .def_readonly("io_tiles", &Device::io_tiles)
      .def_property_readonly("rate", &rates_of)
      .def("flop_per_s", [](const Device& self, const std::string& dtype) {
        return self.flop_per_s(dtype_of(dtype));
      });
}

}  // namespace

void bind_platform(py::module_& module) {
  bind_device(module);
  py::class_<Memory>(module, "Memory")
      .def_readonly("name", &Memory::name)
      .def_readonly("capacity", &Memory::capacity);
  py::class_<Platform, std::shared_ptr<Platform>>(module, "Platform")
      .def_readonly("name", &Platform::name)
      .def_readonly("devices", &Platform::devices)
      .def_readonly("memories", &Platform::memories)
      .def("device", &Platform::device, py::return_value_policy::reference_internal)
      .def("host", &Platform::host, py::return_value_policy::reference_internal)
      .def("edges",
           [](const Platform& self) {
             py::list rows;
             for (const Platform::Edge& edge : self.edges)
               rows.append(py::make_tuple(edge.link, edge.direction, edge.from, edge.to,
                                          narrowest(self, edge.channels), edge.setup_s,
                                          edge.latency_s));
             return rows;
           })
      .def("path", [](const Platform& self, const std::string& from, const std::string& to) {
        const Path path = self.path(from, to);
        return py::make_tuple(path.name, path.stream, narrowest(self, path.channels), path.setup_s,
                              path.latency_s);
      });
  module.def("load_platform",
             [](const std::string& path, const std::vector<std::string>& overrides) {
               Value document = load_document(path, "platforms");
               apply_overrides(document, overrides);
               const LoadedPlatform platform = load_platform(std::move(document));
               return std::pair(platform.platform, to_json(platform.document, 0));
             });
  module.def("parse_platform", [](const std::string& text, const std::string& name) {
    const LoadedPlatform platform = load_platform(parse_text(text, name));
    return std::pair(platform.platform, to_json(platform.document, 0));
  });
}

}  // namespace sluice::python
