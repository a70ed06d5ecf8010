// What a helper's child does: one request, one answer. See protocol.hpp.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "python/protocol.hpp"

namespace sluice::helper {

using ProgressTold = std::function<void(std::int64_t done, std::int64_t total)>;

/// Does what is asked for and returns the answer. Throws what the user is to be told.
Memory answer(const std::vector<std::string_view>& request, const ProgressTold& progress);

}  // namespace sluice::helper
