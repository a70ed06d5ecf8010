// The cut `explicit` cuts the model after the layers that the scenario lists.
#include "document/key.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const Model& model = request.model;
  const auto end = static_cast<std::uint32_t>(model.layers.size()) - 1;
  std::vector<std::uint32_t> last;
  for (const Value& where : parameters.value("after")->items()) {
    const std::uint32_t layer = model.layer_at(where);
    const std::string name = "'" + model.layers[layer].name + "'";
    if (layer == end)
      fail_at(where, name +
                         " is the last layer: leave it out of 'after', since no layer "
                         "follows it");
    if (layer == 0)
      fail_at(where, name +
                         " is the input: cut after a later layer, since a stage with only the "
                         "input does no work");
    if (!last.empty() && layer <= last.back())
      fail_at(where, "the layers after which to cut must be in ascending order, and " + name +
                         " does not come after '" + model.layers[last.back()].name + "'");
    last.push_back(layer);
  }
  last.push_back(end);
  return last;
}

}  // namespace

extern const Cut explicit_cut = {
    .name = "explicit",
    .summary = "Cuts the model after the layers that the scenario lists.",
    .details =
        "Use this cut to repeat a known cut, for example the cut of a paper or of another program. "
        "There is no search, so the stages are the same on all machines. If a stage does not fit "
        "into the memory, the run reports an error. Do not list the last layer, because the last "
        "stage always ends with the last layer.",
    .source = "AlexNet on one card",
    .example = "sluice run alexnet_resident 'stages={cut: explicit, after: [conv5]}'",
    .parameters = {Key::list("after",
                             "the model is cut after these layers: their numbers from 1, or their "
                             "names, in ascending order")},
    .last_layers = last_layers,
    .ignores_prices = true,
};

}  // namespace sluice
