// Lists the devices, memories and links in a platform's document, including those in its groups. Messages use these
// lists. The search for the figures on which a result depends also uses these lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct WrittenPart {
  std::string group;  ///< the name of the group; empty if the part is not in a group
  std::string key;    ///< such as "gpu"
  std::string path;   ///< such as "devices.gpu" or "groups.node.devices.gpu"
  const Value* keys = nullptr;
};

/// Returns the parts of a platform. `kind` is devices, memories or links. The list is empty for a document that is not
/// a platform.
std::vector<WrittenPart> written_parts(const Value& platform, std::string_view kind);

/// A name such as node0_gpu3 comes from expanded groups and counts. Returns the part of this name, or null.
const WrittenPart* part_called(const std::vector<WrittenPart>& parts, std::string_view name);

}  // namespace sluice
