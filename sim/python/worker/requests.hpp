// The work that a child process of the helper does: it answers one request. protocol.hpp describes the requests and the
// answers.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "python/protocol.hpp"

namespace sluice::helper {

using ProgressTold = std::function<void(std::int64_t done, std::int64_t total)>;

/// Carries out the request and returns the answer. If this fails, throws an exception, whose message the user sees.
Memory answer(const std::vector<std::string_view>& request, const ProgressTold& progress);

}  // namespace sluice::helper
