// The note `measured_batch` says that a profile was probably measured with a larger batch than its key `batch` says:
// with a multiple of that batch.
#include <cmath>
#include <numeric>
#include <string>

#include "study/answer/note.hpp"

namespace sluice {
namespace {

bool is_linear(const Layer& layer) {
  const std::string_view ending = "-Linear";
  return layer.name.size() > ending.size() && layer.name.ends_with(ending) && layer.macs > 0 &&
         layer.parameters > 0;
}

/// A linear layer multiplies each row of its input by its weights. If a sample is a sequence, each token is a row.
/// Returns the largest number that divides the rows per sample of every linear layer. `macs`, the multiply-accumulates
/// of a layer, is rows x weights. `parameters` is the number of weights and biases together. So macs / parameters is a
/// little smaller than the number of rows. Rounded up, it is the number of rows.
std::int64_t rows_of_linear(const Model& model) {
  std::int64_t rows = 0;
  for (const Layer& layer : model.layers)
    if (is_linear(layer)) {
      const double ratio = static_cast<double>(layer.macs) / static_cast<double>(layer.parameters);
      rows = std::gcd(rows, static_cast<std::int64_t>(std::ceil(ratio * (1 - 1e-12))));
    }
  return rows;
}

std::string text(const AnsweredScenario& answered) {
  const Model& model = answered.scenario.model;
  const std::int64_t rows = rows_of_linear(model);
  if (rows < 2) return "";
  const std::string said = std::to_string(model.measured_batch);
  return "Each linear layer of the profile has a multiple of " + std::to_string(rows) +
         " rows per sample. If a sample is not a sequence, the profile was measured for " +
         std::to_string(rows * model.measured_batch) + " samples, not for the " + said +
         " samples that 'batch' says. In this case, seconds and bytes of a sample are " +
         std::to_string(rows) + " times too large.";
}

}  // namespace

extern const Note measured_batch_note = {
    .name = "measured_batch",
    .summary =
        "Tells if a PipeDream profile was probably measured with a larger batch: a multiple of the given batch.",
    .source = "PipeDream's files do not say how many samples were measured",
    .text = text,
};

}  // namespace sluice
