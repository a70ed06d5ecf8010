// Cuts a model as a scenario's `stages:` says.
#include "stage/stage.hpp"

#include <algorithm>

#include "model/partial.hpp"

namespace sluice {

namespace {

/// The cut that `stages:` names, and its keys read against its record.
template <class Use>
auto with_cut(const Value& stages, Use&& use) {
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
  return use(cut, parameters);
}

}  // namespace

std::vector<Stage> cut_stages(const CutRequest& request) {
  const auto end = static_cast<std::uint32_t>(request.model.layers.size()) - 1;
  if (request.stages == nullptr) return make_stages(request.model, {end}, request.dtype);
  return with_cut(*request.stages, [&](const Cut& cut, const Reader& parameters) {
    return make_stages(request.model, cut.last_layers(request, parameters), request.dtype);
  });
}

std::optional<Model> with_partial_layers(const CutRequest& request) {
  if (request.stages == nullptr) return {};
  return with_cut(
      *request.stages, [&](const Cut& cut, const Reader& parameters) -> std::optional<Model> {
        if (cut.parts == nullptr) return {};
        const std::vector<std::int64_t> parts = cut.parts(request, parameters);
        if (std::count(parts.begin(), parts.end(), 1) == static_cast<std::ptrdiff_t>(parts.size()))
          return {};
        return split_layers(request.model, parts);
      });
}

}  // namespace sluice
