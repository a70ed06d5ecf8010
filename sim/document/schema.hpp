// A JSON Schema (draft-07) made from records, so that editors complete and check what the readers
// accept. https://json-schema.org/draft-07/json-schema-validation
#pragma once

#include <string>
#include <string_view>

#include "document/record.hpp"

namespace sluice {

/// The schema of documents with `format: sluice-KIND/1` at the top. Nested records are followed.
/// `may_have_base`: such a document may be a variant (see load_document): `file` is allowed, and
/// where it is given nothing else is required, not even the format.
std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        bool may_have_base = false);

}  // namespace sluice
