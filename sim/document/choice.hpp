// A document may name an entry of a catalog, such as a policy. The settings of this entry are keys beside the name.
// This choice is resolved and checked once, when the document is read. After that, code receives it as an object of
// type Chosen.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"

namespace sluice {

/// A mapping, and the record that says which keys the mapping may have. The object owns both the mapping and the
/// record. So the object may live longer than the document. Copies are cheap. A default-constructed object is empty:
/// assign a value before use.
class Keys {
 public:
  Keys() = default;
  /// Checks the mapping. Throws InputError if the mapping breaks a rule of the record.
  Keys(Value map, Record record)
      : mapping_(std::make_shared<const ReadMapping>(std::move(map), std::move(record))) {}

  const Reader& reader() const { return mapping_->reader; }
  const Value& map() const { return mapping_->map; }

 private:
  struct ReadMapping {
    ReadMapping(Value map_, Record record_)
        : map(std::move(map_)), record(std::move(record_)), reader(map, record) {}
    Value map;
    Record record;
    Reader reader;  ///< checks `map` against `record`
  };
  std::shared_ptr<const ReadMapping> mapping_;
};

/// An entry of a catalog, with the keys that the document gives for the entry.
template <class Entry>
struct Chosen {
  const Entry* entry = nullptr;
  Keys keys = {};

  const Entry& operator*() const { return *entry; }
  const Entry* operator->() const { return entry; }
};

/// Returns the entry that `mapping` names under `key`. Checks the keys of `mapping` against record_of(entry). Messages
/// call the mapping `mapping_name`. `words` are further texts that a document may write under `key`. Messages list
/// these texts as allowed, too. The caller must handle these texts before the call. Throws InputError.
template <class Entry>
Chosen<Entry> choose(const Catalog<Entry>& catalog, const Value& mapping,
                     const std::string& mapping_name, const std::string& key,
                     const std::vector<std::string>& words = {}) {
  const Value* name = mapping.find(key);
  const std::string known = "; known: " + join(catalog.names(words));
  if (name == nullptr) fail_at(mapping, "missing key '" + key + "' in " + mapping_name + known);
  if (!name->is_scalar())
    fail_at(*name,
            std::string(name->kind_name()) + " for '" + key + "' in " + mapping_name + known);
  const Entry& entry =
      located(*name, [&]() -> const Entry& { return catalog.find(name->text(), words); });
  return {&entry, Keys(mapping, record_of(entry))};
}

/// Returns true if `mapping` has the value `auto` under `key`. In this case the choice is open, and the mapping must
/// not have other keys. Throws InputError.
bool is_open_choice(const Value& mapping, const std::string& mapping_name, const std::string& key);

}  // namespace sluice
