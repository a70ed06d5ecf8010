// The records of a scenario's mappings.
#pragma once

#include "model/catalog.hpp"
#include "policy/policy.hpp"

namespace sluice {

const Record& workload_record();
const Record& cost_record();
const Record& fates_record();
const Record& memory_record();

/// A comment of the resolved text. The files that a cost model says it reads, a profile or fits,
/// are not in the document: what is in them is told by hashes, so that answers that were kept for
/// another content are not taken for this one's. Empty where there is none, or none can be read.
std::string files_comment(const Cost& cost, const Platform& platform);

}  // namespace sluice
