// The records of a scenario's mappings.
#pragma once

#include "model/catalog.hpp"
#include "policy/policy.hpp"

namespace sluice {

const Record& workload_record();
const Record& cost_record();
const Record& fates_record();
const Record& memory_record();

/// Returns a comment for the end of the resolved text. A cost model may read files: a profile, or fits. These files are
/// not part of the document. So the comment has hashes of their contents. An answer that was stored for other contents
/// is then not mistaken for this scenario's answer. If no such file can be read, the comment is empty.
std::string files_comment(const Cost& cost, const Platform& platform);

}  // namespace sluice
