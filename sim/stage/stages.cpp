// Makes stages from the last layers that a cut returns.
#include "base/quantity.hpp"
#include "stage/sizes.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

/// Returns the name of a stage: its first layer that does work, and its last layer. Inputs do no work. So inputs at the
/// beginning are left out. If the stage has only inputs, its name is that of its last input.
std::string name_of_stage(const Model& model, std::uint32_t first, std::uint32_t last) {
  while (first < last && model.layers[first].inputs.empty()) ++first;
  if (first == last) return model.layers[last].name;
  return model.layers[first].name + ".." + model.layers[last].name;
}

Stage make_stage(const Model& model, const Sizes& sizes, std::uint32_t first, std::uint32_t last) {
  Stage stage;
  stage.name = name_of_stage(model, first, last);
  stage.first = first;
  stage.last = last;
  stage.weight_bytes = sizes.weights(first, last);
  stage.tied_bytes = sizes.tied(first, last);
  stage.input_bytes = sizes.input(first);
  stage.output_bytes = sizes.output(last);
  stage.crosses = sizes.crosses(last);
  stage.answer_bytes = sizes.answers(first, last);
  stage.cache_bytes = sizes.cached(first, last);
  stage.kept = sizes.kept(first, last);
  Sizes::Workspace workspace(sizes, first);
  for (std::uint32_t layer = first; layer <= last; ++layer) {
    stage.workspace_bytes = workspace.extend();
    stage.macs = checked_add(stage.macs, model.layers[layer].macs, "MACs of a stage");
    stage.flop = checked_add(stage.flop, model.layers[layer].flop, "FLOP of a stage");
  }
  return stage;
}

}  // namespace

std::vector<Stage> make_stages(const Model& model, const std::vector<std::uint32_t>& last_layers,
                               DType dtype) {
  const Sizes sizes(model, dtype);
  if (last_layers.empty() || last_layers.back() + 1 != sizes.layers())
    throw InternalError("the last stage does not end at the model's last layer");
  std::vector<Stage> stages;
  std::uint32_t first = 0;
  bool learns = false;
  for (const std::uint32_t last : last_layers) {
    if (last < first) throw InternalError("the last layers of stages do not ascend");
    stages.push_back(make_stage(model, sizes, first, last));
    for (std::uint32_t layer = first; layer <= last; ++layer)
      learns = learns || model.layers[layer].backward.runs;
    stages.back().learns = learns;
    first = last + 1;
  }
  return stages;
}

}  // namespace sluice
