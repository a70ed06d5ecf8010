// The names of a model's layers, as `inputs` and `tied` refer to them. A name means the layer in
// the same repetition, else in the repetition around it; inside a block also the inputs that the
// use of the block gives. Throws InputError at the name.
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

/// What the layers of a repetition or a block can refer to outside of it.
struct Surroundings {
  /// The layer that the first one inside reads by default.
  std::optional<std::uint32_t> before;
  /// In a block: the inputs that its use gives, by the names that the block declares.
  std::vector<std::pair<std::string, std::uint32_t>> inputs = {};
};

class LayerNames {
 public:
  explicit LayerNames(const Model& model) : model_(model) {}

  /// Returns false where this name exists already.
  bool add(const std::string& name, std::uint32_t layer) {
    return layers_.emplace(name, layer).second;
  }

  /// The layer that `name`, the value of the key `key`, means inside the repetitions `suffix` (such
  /// as ".2.1").
  std::uint32_t find(const Value& name, std::string_view key, std::string suffix,
                     const Surroundings& around) const;

 private:
  const Model& model_;
  std::unordered_map<std::string, std::uint32_t> layers_;
};

}  // namespace sluice
