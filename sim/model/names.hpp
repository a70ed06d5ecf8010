// The names of a model's layers. The keys `inputs` and `tied` of a layer use these names. A name means the layer with
// this name in the same repetition. If the repetition has no such layer, the name means a layer in the enclosing
// repetition. Inside a block, a name may also mean an input of the block. The functions throw InputError at a name that
// means no layer.
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

/// The layers outside of a repetition or a block that the layers inside can name.
struct Surroundings {
  /// The layer before the repetition or the block. The first layer inside reads it by default.
  std::optional<std::uint32_t> before;
  /// The inputs of a block: the name that the block declares for an input, and the layer that the block reads for this
  /// input. The list is empty outside of a block.
  std::vector<std::pair<std::string, std::uint32_t>> inputs = {};
};

class LayerNames {
 public:
  explicit LayerNames(const Model& model) : model_(model) {}

  /// Adds a name. Returns false if another layer has this name.
  bool add(const std::string& name, std::uint32_t layer) {
    return layers_.emplace(name, layer).second;
  }

  /// Returns the layer that `name` means at a place in the model. `suffix` says which repetitions and named blocks the
  /// place is in. For example, ".2.1" is the first repetition of an inner `repeat` in the second repetition of an outer
  /// `repeat`. `name` is the value of the key `key`.
  std::uint32_t find(const Value& name, std::string_view key, std::string suffix,
                     const Surroundings& around) const;

 private:
  const Model& model_;
  std::unordered_map<std::string, std::uint32_t> layers_;
};

}  // namespace sluice
