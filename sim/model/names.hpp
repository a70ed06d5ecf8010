// The names of a model's layers, as `inputs` and `tied` refer to them: a name means the layer in
// the same repetition, else in the one around it; in a block also what its use gives it. Throws
// InputError at the name.
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

/// What a repetition or a block is given.
struct Surroundings {
  std::optional<std::uint32_t>
      before;  ///< the layer that its first one reads unless told otherwise
  /// In a block: what its use gives, by the names that the block declares.
  std::vector<std::pair<std::string, std::uint32_t>> inputs = {};
};

class LayerNames {
 public:
  explicit LayerNames(const Model& model) : model_(model) {}

  /// False where there is such a name already.
  bool add(const std::string& name, std::uint32_t layer) {
    return layers_.emplace(name, layer).second;
  }

  /// The layer that `name`, a value of the key `key`, means among `suffix`: ".2.1".
  std::uint32_t find(const Value& name, std::string_view key, std::string suffix,
                     const Surroundings& around) const;

 private:
  const Model& model_;
  std::unordered_map<std::string, std::uint32_t> layers_;
};

}  // namespace sluice
