// The records of a scenario's mappings.
#pragma once

#include "model/catalog.hpp"
#include "policy/policy.hpp"

namespace sluice {

const Record& workload_record();
const Record& cost_record();
const Record& fates_record();
const Record& memory_record();

/// Returns a comment for the end of the resolved text. The files that a cost model reads (a profile or fits) are not
/// part of the document, so the comment has hashes of their contents. Therefore an answer that was stored for other
/// contents is not mistaken for this scenario's answer. The comment is empty if there are no such files, or if no such
/// file can be read.
std::string files_comment(const Cost& cost, const Platform& platform);

}  // namespace sluice
