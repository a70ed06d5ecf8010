// Devices and links as a platform's document has them, those of its groups too: for messages and
// for what rests on their figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct WrittenPart {
  std::string group;  ///< empty: of none
  std::string key;    ///< "gpu"
  std::string path;   ///< "devices.gpu", "groups.node.devices.gpu"
  const Value* keys = nullptr;
};

/// `kind`: devices, memories or links. A document that is no platform has none.
std::vector<WrittenPart> written_parts(const Value& platform, std::string_view kind);

/// The part that is called so when groups and counts are expanded: node0_gpu3; null: none is.
const WrittenPart* part_called(const std::vector<WrittenPart>& parts, std::string_view name);

}  // namespace sluice
