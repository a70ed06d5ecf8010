// Small models for the tests of stages, and a helper that cuts these models into stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/load.hpp"
#include "stage/stage.hpp"

namespace sluice::test {

inline Layer layer(std::string name, std::vector<std::uint32_t> inputs, std::int64_t output,
                   std::int64_t parameters, std::int64_t flop) {
  Layer made;
  made.name = std::move(name);
  made.inputs = std::move(inputs);
  made.output = output;
  made.parameters = parameters;
  made.flop = flop;
  made.macs = flop / 2;
  return made;
}

/// Returns a chain: an input with 10 elements, and the layers `a`, `b`, `c` and `d`. The outputs of the layers have
/// 20, 30, 5 and 7 elements. The layers have 1, 2, 3 and 4 weights and 100, 200, 300 and 400 FLOP.
inline Model chain() {
  Model model;
  model.name = "chain";
  model.layers = {layer("input", {}, 10, 0, 0), layer("a", {0}, 20, 1, 100),
                  layer("b", {1}, 30, 2, 200), layer("c", {2}, 5, 3, 300),
                  layer("d", {3}, 7, 4, 400)};
  return model;
}

/// Cuts a model into stages for one device of 1 FLOP/s. So an operator with 5 FLOP takes 5 seconds.
struct Cutting {
  explicit Cutting(Model made) : model(std::move(made)) {
    device.name = "gpu";
    device.rate = {{DType::int8, 1.0}};
  }

  std::vector<Stage> cut(const std::string& stages) const {
    const Value document = parse_text("stages: " + stages + "\n", "s.yaml");
    const Chosen<Cut> chosen = choose_cut(*document.find("stages"));
    return cut_stages(
        {model, device, *plain_cost("peak"), DType::int8, samples, working_set_counted, &chosen});
  }
  std::vector<std::uint32_t> lasts(const std::string& stages) const {
    std::vector<std::uint32_t> last;
    for (const Stage& stage : cut(stages)) last.push_back(stage.last);
    return last;
  }

  Model model;
  Device device;
  std::int64_t samples = 1;
  bool working_set_counted = true;
};

}  // namespace sluice::test
