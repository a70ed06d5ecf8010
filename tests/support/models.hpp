// Helpers for tests of models.
#pragma once

#include <string>

#include "document/load.hpp"
#include "model/model.hpp"
#include "support/bad_input.hpp"
#include "support/source_folder.hpp"

namespace sluice::test {

inline const std::string zoo = test::source_folder() + "/models/";
inline const std::string image = "- {type: input, name: x, shape: [28, 28, 3]}\n";

/// Returns a model. `layers` has the layers as items of a YAML list, one per line. `use` is what a scenario says under
/// `model` besides the definition. `parameters` is a further line of the model's document, which declares its
/// parameters.
inline Model model_of(const std::string& layers, const std::string& use = "",
                      const std::string& parameters = "") {
  Value mapping = parse_text(use.empty() ? "{}" : use, "s.yaml");
  mapping.set("definition",
              parse_text("format: sluice-model/1\nname: m\n" + parameters + "layers:\n" + layers,
                         "m.yaml"));
  return read_model(mapping);
}

inline std::string refused(const std::string& layers, const std::string& use = "",
                           const std::string& parameters = "") {
  return error_of([&] { model_of(layers, use, parameters); });
}

}  // namespace sluice::test
