// The binding of fits (study/fits/fits.hpp) for the Python module.
#include "study/fits/fits.hpp"

#include <pybind11/stl.h>

#include "document/load.hpp"
#include "python/module.hpp"

namespace sluice::python {
namespace {

/// Returns the footprint as a dict, with the bytes of each class of tensors. If there is no footprint, returns None.
py::object dict_of(const std::optional<Footprint>& footprint) {
  if (!footprint) return py::none();
  py::dict bytes;
  for (int c = 0; c < tensor_class_count; ++c)
    bytes[py::str(std::string(name_of(static_cast<TensorClass>(c))))] =
        footprint->by_class[static_cast<std::size_t>(c)];
  py::dict dict;
  dict["samples"] = footprint->samples;
  dict["bytes"] = footprint->bytes;
  dict["by_class"] = bytes;
  dict["doing"] = footprint->doing;
  return dict;
}

py::dict dict_of(const CardFit& card) {
  py::dict dict;
  dict["platform"] = card.platform;
  dict["device"] = card.device;
  dict["cost"] = card.cost;
  dict["capacity"] = card.capacity;
  dict["largest"] = card.largest;
  dict["one"] = dict_of(card.one_sample);
  dict["most"] = dict_of(card.largest_footprint);
  dict["next"] = dict_of(card.next);
  dict["refusal"] = card.refusal;
  dict["step_s"] = card.step_s;
  dict["micro_batch"] =
      card.accumulation ? py::cast(card.accumulation->micro_batch) : py::object(py::none());
  dict["batch_step_s"] =
      card.accumulation ? py::cast(card.accumulation->step_s) : py::object(py::none());
  dict["error"] = card.error;
  return dict;
}

/// Returns the report of `sluice fits`. `words` holds five texts in this order: mode, dtype, optimizer, policy and
/// fates.
FitsReport ask(const std::string& model, const std::vector<std::string>& platforms,
               const std::vector<std::string>& words, std::optional<std::int64_t> batch,
               const std::vector<std::string>& overrides) {
  FitsRequest request;
  request.model = parse_text(model, "<model>.json");
  for (const std::string& platform : platforms)
    request.platforms.push_back(parse_text(platform, "<platform>.json"));
  request.mode = words.at(0);
  request.dtype = words.at(1);
  request.optimizer = words.at(2);
  request.policy = words.at(3);
  request.fates = words.at(4);
  request.batch = batch;
  request.overrides = overrides;
  return fits(request);
}

}  // namespace

void bind_fits(py::module_& module) {
  module.def("fits", [](const std::string& model, const std::vector<std::string>& platforms,
                        const std::vector<std::string>& words, std::optional<std::int64_t> batch,
                        const std::vector<std::string>& overrides) {
    FitsReport report;
    {
      const py::gil_scoped_release free_gil;
      report = ask(model, platforms, words, batch, overrides);
    }
    py::list cards;
    for (const CardFit& card : report.cards) cards.append(dict_of(card));
    return cards;
  });
}

}  // namespace sluice::python
