// Finds the places in a document where a key is written or may be written. If a person writes the
// key without its path, a message suggests these places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

/// Returns at most three paths below `map` that lead to a key called `key`. The paths that `record`
/// allows come before the paths that exist in the document. For example, the result for "batch" is
/// workload.batch, and the result for "bandwidth" is platform.links.host.bandwidth.
std::vector<std::string> places_of(std::string_view key, const Value& map, const Record* record);

/// Returns " (did you mean 'workload.batch'?)" if `places` holds this place. If `places` is empty, suggests the name in
/// `known` that is most similar to `key`.
std::string did_you_mean_at(std::string_view key, const std::vector<std::string>& known,
                            const std::vector<std::string>& places);

}  // namespace sluice
