// Finds the places in a document where a key is written or may be written. This helps a person who wrote the key
// without its path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

/// Returns at most three paths below `map` to keys of that name: first those that `record` allows, then
/// those that exist. For example, "batch" is at workload.batch, and "bandwidth" at
/// platform.links.host.bandwidth.
std::vector<std::string> places_of(std::string_view key, const Value& map, const Record* record);

/// Returns " (did you mean 'workload.batch'?)" if the key belongs at other places. Otherwise suggests the nearest name
/// in `known`.
std::string did_you_mean_at(std::string_view key, const std::vector<std::string>& known,
                            const std::vector<std::string>& places);

}  // namespace sluice
