// The strategy `listed`: each stage has the fate that the scenario lists for it.
#include "document/key.hpp"
#include "fates/strategy.hpp"

#include <optional>

#include "base/error.hpp"
#include "document/stage_range.hpp"

namespace sluice {
namespace {

FateChoice choose(const FateRequest& request, const Reader& parameters) {
  std::vector<std::optional<Fate>> fates(request.chain.stages.size());
  std::vector<std::string> names;
  for (const ChainStage& stage : request.chain.stages) names.push_back(stage.name);
  const auto read = [&](const char* key, Fate fate) {
    const Value* list = parameters.value(key);
    if (!list) return;
    for (const Value& item : list->items()) {
      const StageRange range = named_stages(item, names);
      for (std::size_t s = range.first; s <= range.last; ++s) {
        if (fates[s])
          fail_at(item, "stage '" + request.chain.stages[s].name +
                            "' already has a fate; list each stage once");
        fates[s] = fate;
      }
    }
  };
  read("keep", Fate::keep);
  read("recompute", Fate::recompute);
  read("offload", Fate::offload);
  std::vector<Fate> all;
  for (const std::optional<Fate>& fate : fates) all.push_back(fate.value_or(Fate::keep));
  return {tape_of(request.chain, all), {}};
}

Field list_of(const char* name, const char* summary) {
  return Key::list(name, summary).or_absent();
}

}  // namespace

extern const FateStrategy listed_fates = {
    .name = "listed",
    .summary = "A stage has the fate under which it is listed. A stage in no list is kept.",
    .details =
        "Use this strategy to repeat a known choice of fates, or to try your own choice. The key "
        "under which you list a stage is the fate of the stage. The strategy does not search for "
        "fates. If your choice does not fit into the memory, the command ends with exit code 4. A "
        "stage may be in one list only.",
    .source = "AlexNet on one card, the combined strategy",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident stages=per_layer "
        "'fates={strategy: listed, offload: [2, 5], recompute: [3, 6]}'",
    .parameters =
        {list_of("keep",
                 "stages whose activations are kept; numbers from 1, ranges like 6..14, or names"),
         list_of("recompute",
                 "stages that are recomputed from kept or offloaded activations of earlier "
                 "stages; numbers from 1, ranges like 6..14, or names"),
         list_of("offload",
                 "stages whose activations go to host memory and come back; numbers "
                 "from 1, ranges like 6..14, or names")},
    .choose = choose,
};

}  // namespace sluice
