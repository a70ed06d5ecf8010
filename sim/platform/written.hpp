// Lists the devices, memories and links in a platform's document, with those in its groups. The lists are used in
// messages, and in the search for the figures on which a result depends.
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

/// Returns all devices, all memories or all links in a platform's document. `kind` is "devices", "memories" or "links".
/// For a document that is not a platform, the list is empty.
std::vector<WrittenPart> written_parts(const Value& platform, std::string_view kind);

/// Returns the part to which a name belongs, or null if there is none. For example, node0_gpu3 belongs to the device
/// `gpu` in the group `node`, if both have a count.
const WrittenPart* part_called(const std::vector<WrittenPart>& parts, std::string_view name);

}  // namespace sluice
