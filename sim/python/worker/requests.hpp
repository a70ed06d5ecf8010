// The work of a child of the helper. The child reads one request and returns one answer, as protocol.hpp describes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "python/protocol.hpp"

namespace sluice::helper {

using ProgressTold = std::function<void(std::int64_t done, std::int64_t total)>;

/// Carries out the request and returns the answer. Throws the exceptions whose messages the user sees.
Memory answer(const std::vector<std::string_view>& request, const ProgressTold& progress);

}  // namespace sluice::helper
