// The tensors that stages read: inputs of the model, and outputs of earlier stages. A tensor that crosses several cuts,
// such as a shortcut around stages, is listed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stage/stage.hpp"

namespace sluice {

/// All tensors that come from one place and that the same stages read. They are kept and moved together, as if they
/// were one tensor.
struct StageInput {
  std::string
      name;  ///< the name of a layer whose output it is, if another element has the same maker
  bool of_model = false;                  ///< whether it consists of inputs of the model
  std::size_t made_in = 0;                ///< the stage that makes it; 0 for inputs of the model
  std::int64_t bytes = 0;                 ///< per sample
  std::vector<std::size_t> read_in = {};  ///< the stages that read it, in ascending order
};

/// What becomes of parts of the answer that earlier stages than the last make: the last stage reads them, or they are not
/// listed, because they leave the device as soon as they are made.
enum class EarlierAnswers : std::uint8_t { read_in_last_stage, left_out };

/// Returns what the stages read.
std::vector<StageInput> stage_inputs(const Model& model, const std::vector<Stage>& stages,
                                     EarlierAnswers answers = EarlierAnswers::read_in_last_stage);

/// The tensors that a stage reads, and those that it makes for later stages: indices of stage inputs. The tensors that
/// are read first come first in `makes`.
struct StageTensors {
  std::vector<std::size_t> reads, makes;
};
/// Returns these indices, by stage.
std::vector<StageTensors> tensors_of_stages(const std::vector<StageInput>& inputs,
                                            std::size_t stages);

/// Returns whether any layer of the stage reads the output of the layer `layer`.
bool reads(const Model& model, const Stage& stage, std::uint32_t layer);

}  // namespace sluice
