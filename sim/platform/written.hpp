// Devices and links as a platform's document contains them, including those of its groups: for
// messages, and for finding out which results rest on their figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct WrittenPart {
  std::string group;  ///< empty: it is not in a group
  std::string key;    ///< "gpu"
  std::string path;   ///< "devices.gpu", "groups.node.devices.gpu"
  const Value* keys = nullptr;
};

/// `kind` is devices, memories or links. A document that is not a platform has none.
std::vector<WrittenPart> written_parts(const Value& platform, std::string_view kind);

/// The part that has this name when groups and counts are expanded, such as node0_gpu3; null: none
/// has.
const WrittenPart* part_called(const std::vector<WrittenPart>& parts, std::string_view name);

}  // namespace sluice
