// The places in a document where a key is written or may be written, for a person who wrote the key
// without the path to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

/// The paths below `map` of keys with that name: first those that `record` allows, then those that
/// exist. "batch" is at workload.batch, "bandwidth" at platform.links.host.bandwidth. At most
/// three.
std::vector<std::string> places_of(std::string_view key, const Value& map, const Record* record);

/// " (did you mean 'workload.batch'?)" where the key belongs at other places, else the nearest name
/// of `known`.
std::string did_you_mean_at(std::string_view key, const std::vector<std::string>& known,
                            const std::vector<std::string>& places);

}  // namespace sluice
