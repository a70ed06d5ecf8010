// Reads the cut that `stages:` names, and applies it.
#include <algorithm>

#include "document/key.hpp"
#include "model/partial.hpp"
#include "stage/stage.hpp"

namespace sluice {

Record record_of(const Cut& cut) {
  Record record = {"stages with the cut " + cut.name, cut.summary, cut.parameters};
  record.fields.insert(record.fields.begin(),
                       Key::choice("cut", cut_catalog().names(),
                                   "The rule by which the model is divided into stages."));
  return record;
}

Chosen<Cut> choose_cut(const Value& stages) {
  return choose(cut_catalog(), stages, "stages", "cut", {"auto"});
}

double forward_s(const CutRequest& request, const Layer& layer) {
  return request.cost
      .of(query_of(request.model, layer, Pass::forward, request.samples, request.dtype,
                   request.device))
      .seconds;
}

std::vector<Stage> cut_stages(const CutRequest& request) {
  const auto end = static_cast<std::uint32_t>(request.model.layers.size()) - 1;
  if (request.cut == nullptr) return make_stages(request.model, {end}, request.dtype);
  const Chosen<Cut>& cut = *request.cut;
  return make_stages(request.model, cut->last_layers(request, cut.keys.reader()), request.dtype);
}

std::optional<Model> with_partial_layers(const CutRequest& request) {
  if (request.cut == nullptr || (*request.cut)->parts == nullptr) return {};
  const Chosen<Cut>& cut = *request.cut;
  const std::vector<std::int64_t> parts = cut->parts(request, cut.keys.reader());
  if (std::count(parts.begin(), parts.end(), 1) == static_cast<std::ptrdiff_t>(parts.size()))
    return {};
  return split_layers(request.model, parts);
}

}  // namespace sluice
