// The cuts. A new one is a file beside this one and a line here.
#include "stage/stage.hpp"

namespace sluice {

const Catalog<Cut>& cut_catalog() {
  static const Catalog<Cut> catalog("cut", {
                                               SLUICE_ENTRY(Cut, per_layer_cut),
                                               SLUICE_ENTRY(Cut, by_memory_cut),
                                               SLUICE_ENTRY(Cut, explicit_cut),
                                               SLUICE_ENTRY(Cut, balanced_cut),
                                           });
  return catalog;
}

std::vector<Stage> cut_stages(const CutRequest& request) {
  const auto end = static_cast<std::uint32_t>(request.model.layers.size()) - 1;
  if (request.stages == nullptr) return make_stages(request.model, {end}, request.dtype);
  const Value& stages = *request.stages;
  const Value* name = stages.find("cut");
  if (name == nullptr || !name->is_scalar())
    fail_at(stages, "stages needs a cut: one of " + join(cut_catalog().names()));
  const Cut& cut = located(*name, [&]() -> const Cut& { return cut_catalog().find(name->text()); });
  Record record = {"stages with the cut " + cut.name, cut.summary, cut.parameters};
  record.fields.insert(record.fields.begin(), {.name = "cut",
                                               .type = Type::choice,
                                               .summary = "How the model is divided into stages.",
                                               .choices = cut_catalog().names()});
  const Reader parameters(stages, record);
  return make_stages(request.model, cut.last_layers(request, parameters), request.dtype);
}

}  // namespace sluice
