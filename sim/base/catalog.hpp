// A catalog: the readable list of the entries of one kind (policies, layers, costs, cuts, metrics).
// An entry is a record with at least `name` and `summary`; adding one is one file and one line in
// the folder's catalog.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/suggest.hpp"

/// One line of a catalog: the address of the record `name`, which another file of the namespace
/// sluice defines.
#define SLUICE_ENTRY(Type, name) \
  [] {                           \
    extern const Type name;      \
    return &name;                \
  }()

namespace sluice {

/// The initialiser of a global must not walk a catalog: records of other files may not exist yet.
template <class Entry>
class Catalog {
 public:
  /// `kind` is the word for messages: "policy", "layer type".
  Catalog(std::string kind, std::vector<const Entry*> entries)
      : kind_(std::move(kind)), entries_(std::move(entries)) {}

  const std::string& kind() const { return kind_; }
  const std::vector<const Entry*>& entries() const { return entries_; }

  const Entry* find_or_null(std::string_view name) const {
    for (const Entry* entry : entries_)
      if (entry->name == name) return entry;
    return nullptr;
  }

  /// `words`: what may be said instead of a name; they come first.
  std::vector<std::string> names(std::vector<std::string> words = {}) const {
    for (const Entry* entry : entries_) words.emplace_back(entry->name);
    return words;
  }

  /// Throws InputError: unknown KIND 'X' (did you mean 'Y'?); known: A, B, C. `words` are known,
  /// too, but are no entries: the caller looks for them.
  const Entry& find(std::string_view name, const std::vector<std::string>& words = {}) const {
    if (const Entry* entry = find_or_null(name)) return *entry;
    const std::vector<std::string> known = names(words);
    throw InputError("unknown " + kind_ + " '" + std::string(name) + "'" +
                     did_you_mean(name, known) + "; known: " + join(known));
  }

 private:
  std::string kind_;
  std::vector<const Entry*> entries_;
};

}  // namespace sluice
