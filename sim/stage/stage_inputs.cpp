#include "stage/stage_inputs.hpp"

#include <algorithm>
#include <map>

namespace sluice {

namespace {

/// Returns the tensors that cross cuts, by their layers. Each tensor has the stages that read it.
std::map<std::uint32_t, StageInput> crossing_tensors(const Model& model,
                                                     const std::vector<Stage>& stages,
                                                     EarlierAnswers answers) {
  std::map<std::uint32_t, StageInput> tensors;
  for (std::size_t s = 0; s + 1 < stages.size(); ++s)
    for (const Crossing& crossing : stages[s].crosses) {
      const auto [found, fresh] = tensors.try_emplace(crossing.layer);
      StageInput& tensor = found->second;
      if (fresh) {
        const Layer& layer = model.layers[crossing.layer];
        tensor = {layer.name, layer.inputs.empty(), s, crossing.bytes};
        if (s == 0 && tensor.of_model && reads(model, stages[0], crossing.layer))
          tensor.read_in.push_back(0);
      }
      const std::size_t next = s + 1;
      const bool reads_answers =
          next + 1 == stages.size() && answers == EarlierAnswers::read_in_last_stage;
      if (reads_answers || reads(model, stages[next], crossing.layer))
        tensor.read_in.push_back(next);
    }
  std::erase_if(tensors, [](const auto& tensor) { return tensor.second.read_in.empty(); });
  return tensors;
}

}  // namespace

bool reads(const Model& model, const Stage& stage, std::uint32_t layer) {
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) {
    const std::vector<std::uint32_t>& inputs = model.layers[l].inputs;
    if (std::find(inputs.begin(), inputs.end(), layer) != inputs.end()) return true;
  }
  return false;
}

std::vector<StageInput> stage_inputs(const Model& model, const std::vector<Stage>& stages,
                                     EarlierAnswers answers) {
  std::vector<StageInput> inputs;
  std::int64_t rest = stages.front().input_bytes;
  for (const auto& [layer, tensor] : crossing_tensors(model, stages, answers)) {
    if (tensor.of_model) rest -= tensor.bytes;
    const auto together = std::find_if(inputs.begin(), inputs.end(), [&](const StageInput& other) {
      return other.of_model == tensor.of_model && other.made_in == tensor.made_in &&
             other.read_in == tensor.read_in;
    });
    if (together == inputs.end())
      inputs.push_back(tensor);
    else
      together->bytes += tensor.bytes;
  }
  // Only the first stage reads the other inputs of the model.
  if (rest > 0) inputs.push_back({.name = "", .of_model = true, .bytes = rest, .read_in = {0}});
  for (StageInput& input : inputs)
    if (std::count_if(inputs.begin(), inputs.end(), [&](const StageInput& other) {
          return other.of_model == input.of_model && other.made_in == input.made_in;
        }) == 1)
      input.name.clear();
  return inputs;
}

std::vector<StageTensors> tensors_of_stages(const std::vector<StageInput>& inputs,
                                            std::size_t stages) {
  std::vector<StageTensors> tensors(stages);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const std::size_t stage : inputs[i].read_in) tensors[stage].reads.push_back(i);
    if (!inputs[i].of_model) tensors[inputs[i].made_in].makes.push_back(i);
  }
  for (StageTensors& stage : tensors)
    std::stable_sort(stage.makes.begin(), stage.makes.end(), [&](std::size_t a, std::size_t b) {
      return inputs[a].read_in < inputs[b].read_in;
    });
  return tensors;
}

}  // namespace sluice
