// A JSON Schema (draft-07) made from records, so that editors complete and check what the readers
// accept. https://json-schema.org/draft-07/json-schema-validation
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/record.hpp"

namespace sluice {

/// A mapping whose keys depend on what some of them say: where each key of `when` has the word
/// beside it, the mapping holds the keys of `record` and no other. A key of `when` that has a
/// default in `record` may be absent where the word is that default.
struct SchemaVariant {
  std::vector<std::pair<std::string, std::string>> when;
  Record record;
};

/// What a record alone does not tell about its documents.
struct SchemaRules {
  /// Such a document may lay its keys over another one (see load_document): `file` is allowed, and
  /// where it is given no other key is required, not even the format.
  bool may_have_base = false;
  /// By the key of a mapping at the top.
  std::map<std::string, std::vector<SchemaVariant>> variants = {};
};

/// The schema of documents with `format: sluice-KIND/1` at the top. Nested records are followed.
std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        const SchemaRules& rules = {});

}  // namespace sluice
