// A JSON Schema (draft-07) made from records, so that editors complete and check what the readers
// accept. https://json-schema.org/draft-07/json-schema-validation
#pragma once

#include <string>
#include <string_view>

#include "document/record.hpp"

namespace sluice {

/// The schema of documents with `format: sluice-KIND/1` at the top. Nested records are followed.
std::string json_schema(const Record& record, const std::string& title, std::string_view kind);

}  // namespace sluice
