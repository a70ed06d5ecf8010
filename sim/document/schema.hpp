// Makes a JSON Schema (draft-07) from the records of a document (document/record.hpp). With this schema, an editor
// completes and checks the document by the same rules as Sluice. The rules of schemas are at
// https://json-schema.org/draft-07/json-schema-validation.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/record.hpp"

namespace sluice {

/// A variant of a mapping. If the values of some keys, such as `type`, decide which other keys a mapping may have, the
/// mapping has variants. A variant applies if each key in `when` has the value given there. An empty value in `when`
/// means any value. If the variant applies, the mapping has only the keys of `record`, unless the record is open. If
/// the value of a key in `when` is the key's default in `record`, the mapping may lack this key.
struct SchemaVariant {
  std::vector<std::pair<std::string, std::string>> when;
  Record record;
  /// Keys of `record` whose values may be expressions of parameters, or lists of expressions. If `record` declares no
  /// type for such a value, or for the elements of such a list, the type is integer.
  std::vector<std::string> with_expressions = {};
};

/// A record that occurs at several places of a document, and possibly within itself.
struct SharedSchema {
  std::vector<SchemaVariant> variants = {};
  /// A key of the mapping. The value of this key may be written instead of the whole mapping.
  std::string alone = {};
};

/// Rules for a document, in addition to the rules that the document's record declares.
struct SchemaRules {
  /// Whether a document may lay its keys over another document (see load_document). Such a document names the other
  /// document with the key `file`. All its other keys may be absent, even `format`.
  bool may_have_base = false;
  /// The variants of each mapping at the top of the document, by the key of the mapping.
  std::map<std::string, std::vector<SchemaVariant>> variants = {};
  /// The rules of shared records, by the name of the record. The schema contains each shared record once, under
  /// `definitions`.
  std::map<std::string, SharedSchema> shared = {};
  /// From the name of a record to one key of this record. In a list of mappings with this record, the first mapping
  /// must not have this key, and all other mappings must have it. A single mapping outside a list must not have it.
  std::map<std::string, std::string> further_key = {};
  /// Some keys at the top of the document, such as `platform`, hold whole documents. This map has the records of these
  /// documents, by the key. Such a key may also hold a mapping with the key `file`. In this case, `file` names a
  /// document, and the other keys of the mapping are laid over this document.
  std::map<std::string, Record> included = {};
};

/// Returns the schema of documents with `format: sluice-KIND/1` at the top. It includes the schemas of all nested
/// records.
std::string json_schema(const Record& record, const std::string& title, std::string_view kind,
                        const SchemaRules& rules = {});

}  // namespace sluice
