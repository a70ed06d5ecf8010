// A person may write a key without its path. These functions find the paths in a document at which this key exists or
// is allowed. Messages suggest these paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct Record;

/// Returns at most three paths below `map` that lead to a key called `key`. The paths that `record` allows come first.
/// The paths that exist in `map` come after them. For example, "batch" gives workload.batch, and "bandwidth" gives
/// platform.links.host.bandwidth.
std::vector<std::string> places_of(std::string_view key, const Value& map, const Record* record);

/// Returns a text such as " (did you mean 'workload.batch'?)", which suggests `places`. If `places` is empty, suggests
/// the name in `known` that is most similar to `key`.
std::string did_you_mean_at(std::string_view key, const std::vector<std::string>& known,
                            const std::vector<std::string>& places);

}  // namespace sluice
