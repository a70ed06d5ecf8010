// The records of a scenario's mappings.
#pragma once

#include "model/catalog.hpp"
#include "policy/policy.hpp"

namespace sluice {

const Record& workload_record();
const Record& cost_record();
const Record& fates_record();
const Record& memory_record();

/// A comment below the resolved text. The files that a cost model reads (a profile or fits) are not
/// part of the document, so the comment has hashes of their contents: an answer that was kept for
/// other contents is then not taken for this scenario's. Empty where there are no such files, or
/// none can be read.
std::string files_comment(const Cost& cost, const Platform& platform);

}  // namespace sluice
