// Finds the stages of a model that a text in a document means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct StageRange {
  std::size_t first = 0, last = 0;
};

/// Reads a text that means one stage or a range of stages: "6", "6..14", or one of `names`. The
/// numbers count from 1. Throws InputError at the position of the text.
StageRange named_stages(const Value& item, const std::vector<std::string>& names);

}  // namespace sluice
