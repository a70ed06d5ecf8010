// A catalog is a list of entries of one kind, for example all policies. An entry is a record with at least a `name` and
// a `summary`. Each catalog has a folder. To add an entry, add one file to this folder, and one line to its catalog.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/suggest.hpp"

/// Returns the address of the record `name`, which another file defines in the namespace sluice. A catalog lists its
/// entries by this macro.
#define SLUICE_ENTRY(Type, name) \
  [] {                           \
    extern const Type name;      \
    return &name;                \
  }()

namespace sluice {

/// An initialiser of a global variable must not use the entries of a catalog. The records of other files may not exist
/// yet when it runs.
template <class Entry>
class Catalog {
 public:
  /// `kind` is the word for an entry in messages, such as "policy" or "layer type".
  Catalog(std::string kind, std::vector<const Entry*> entries)
      : kind_(std::move(kind)), entries_(std::move(entries)) {}

  const std::string& kind() const { return kind_; }
  const std::vector<const Entry*>& entries() const { return entries_; }

  const Entry* find_or_null(std::string_view name) const {
    for (const Entry* entry : entries_)
      if (entry->name == name) return entry;
    return nullptr;
  }

  /// Returns the names of all entries. The result begins with `words`: other texts that the caller accepts.
  std::vector<std::string> names(std::vector<std::string> words = {}) const {
    for (const Entry* entry : entries_) words.emplace_back(entry->name);
    return words;
  }

  /// Returns the entry with this name. If there is none, throws InputError: unknown KIND 'X' (did you mean 'Y'?);
  /// known: A, B, C. The known names in the message include `words`, the other texts that the caller accepts.
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
