#include "model/names.hpp"

#include "base/suggest.hpp"
#include "document/record.hpp"

namespace sluice {

std::uint32_t LayerNames::find(const Value& name, std::string_view key, std::string suffix,
                               const Surroundings& around) const {
  const std::string in = "' in '" + std::string(key) + "' is ";
  if (name.text() == before_word) {
    if (around.before) return *around.before;
    fail_at(name, "'before" + in +
                      "the layer before a repetition or a block, and there is no such layer here");
  }
  for (const auto& [given, layer] : around.inputs)
    if (given == name.text()) return layer;
  for (;;) {
    const auto found = layers_.find(name.text() + suffix);
    if (found != layers_.end()) return found->second;
    if (suffix.empty()) break;
    suffix.erase(suffix.rfind('.'));
  }
  std::vector<std::string> known;
  for (const auto& [given, layer] : around.inputs) known.push_back(given);
  for (std::size_t i = model_.layers.size(); i > 0 && known.size() < 20; --i)
    known.push_back(model_.layers[i - 1].name);
  fail_at(name, "'" + name.text() + in + "not an earlier layer" + did_you_mean(name.text(), known) +
                    "; the last ones are: " + join(known));
}

}  // namespace sluice
