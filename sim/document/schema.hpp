// Makes a JSON Schema (draft-07) from records, so that editors complete and check exactly what the
// readers accept. https://json-schema.org/draft-07/json-schema-validation
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/record.hpp"

namespace sluice {

/// A variant of a mapping whose keys depend on the values of some of them: where each key of `when`
/// has the value given beside it (any value, where that is empty), the mapping has the keys of
/// `record` and no others, unless the record is open. A key of `when` that has a default in
/// `record` may be absent where the value is that default.
struct SchemaVariant {
  std::vector<std::pair<std::string, std::string>> when;
  Record record;
  /// Keys of `record` whose values may be expressions of parameters. Where the record does not say
  /// what type they have, also in lists, they are integers.
  std::vector<std::string> with_expressions = {};
};

/// A record that occurs at several places of a document, perhaps also within itself.
struct SharedSchema {
  std::vector<SchemaVariant> variants = {};
  std::string alone = {};  ///< the key whose value alone may stand for the mapping
};

/// What a record alone does not say about its documents.
struct SchemaRules {
  /// The document may lay its keys over another one (see load_document): `file` is allowed, and
  /// where it is given no other key is required, not even the format.
  bool may_have_base = false;
  /// Variants by the key of a mapping at the top.
  std::map<std::string, std::vector<SchemaVariant>> variants = {};
  /// Rules by the name of a record, which the schema writes once, under `definitions`.
  std::map<std::string, SharedSchema> shared = {};
};

/// The schema of documents with `format: sluice-KIND/1` at the top. Nested records are followed.
std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        const SchemaRules& rules = {});

}  // namespace sluice
