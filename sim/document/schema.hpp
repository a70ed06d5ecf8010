// Makes a JSON Schema (draft-07) from records, so that editors complete and check exactly what the readers accept. The
// rules of schemas are at https://json-schema.org/draft-07/json-schema-validation.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/record.hpp"

namespace sluice {

/// A variant of a mapping. The mapping has variants if the values of some keys, such as `type`, decide which other keys
/// are allowed. This variant applies if each key of `when` has the value given there. An empty value there allows any
/// value. Then the mapping has the keys of `record` and no others, unless the record is open. A key of `when` may be
/// absent if the value is its default in `record`.
struct SchemaVariant {
  std::vector<std::pair<std::string, std::string>> when;
  Record record;
  /// Keys of `record` whose values may be expressions of parameters. They are integers if the record does not say their
  /// type (or that of a list's elements).
  std::vector<std::string> with_expressions = {};
};

/// A record that occurs at several places of a document. It may also occur within itself.
struct SharedSchema {
  std::vector<SchemaVariant> variants = {};
  /// The key of the mapping whose value may be written instead of the whole mapping.
  std::string alone = {};
};

/// What a schema needs to know about its documents beyond their record.
struct SchemaRules {
  /// The document may lay its keys over another one (see load_document). Then `file` is allowed,
  /// and with `file` no other key is required, not even the format.
  bool may_have_base = false;
  /// The variants of each mapping at the top, by its key.
  std::map<std::string, std::vector<SchemaVariant>> variants = {};
  /// Rules by the name of a record. The schema contains such a record once, under `definitions`.
  std::map<std::string, SharedSchema> shared = {};
  /// By the name of a record: the key that tells the mappings of a list apart. The first mapping, and one that stands
  /// alone, may not have this key; all others need it.
  std::map<std::string, std::string> further_key = {};
  /// Records by the key of a mapping at the top. Such a mapping is a whole document of the kind that the key names, or
  /// its key `file` names a document that its other keys are laid over.
  std::map<std::string, Record> included = {};
};

/// Returns the schema of documents with `format: sluice-KIND/1` at the top, with all nested records.
std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        const SchemaRules& rules = {});

}  // namespace sluice
