// The names of a model's layers, to which `inputs` and `tied` refer. A name means the layer with this name in the same
// repetition. If the repetition has no such layer, the name means the layer in the enclosing repetition. Inside a
// block, a name may also be an input of the block. The functions throw InputError at the name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "document/value.hpp"
#include "model/model.hpp"

namespace sluice {

inline constexpr std::string_view before_word = "before";

/// Layers outside of a repetition or a block. The layers inside can refer to these layers.
struct Surroundings {
  /// The layer that the first inner layer reads by default.
  std::optional<std::uint32_t> before;
  /// The inputs that a block gets at its use, with the names that the block declares. Empty outside of a block.
  std::vector<std::pair<std::string, std::uint32_t>> inputs = {};
};

class LayerNames {
 public:
  explicit LayerNames(const Model& model) : model_(model) {}

  /// Adds a name. Returns false if another layer has this name.
  bool add(const std::string& name, std::uint32_t layer) {
    return layers_.emplace(name, layer).second;
  }

  /// Returns the layer that `name` means inside the repetitions with the suffix `suffix`, such as ".2.1". `name` is
  /// the value of the key `key`.
  std::uint32_t find(const Value& name, std::string_view key, std::string suffix,
                     const Surroundings& around) const;

 private:
  const Model& model_;
  std::unordered_map<std::string, std::uint32_t> layers_;
};

}  // namespace sluice
