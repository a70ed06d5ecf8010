// The records of the mappings in a scenario. A record says which keys a mapping may have.
#pragma once

#include "model/catalog.hpp"
#include "policy/policy.hpp"

namespace sluice {

const Record& workload_record();
const Record& cost_record();
const Record& fates_record();
const Record& memory_record();

/// Returns a comment for the end of the scenario's resolved text. A cost model may read files, such as a profile, that
/// are not part of this text. So the comment has hashes of the contents of these files. If the content of a file has
/// changed, the text differs, and an answer that was stored for the old content is not used. If no such file can be
/// read, the comment is empty.
std::string files_comment(const Cost& cost, const Platform& platform);

}  // namespace sluice
