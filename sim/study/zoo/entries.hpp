// Lists the entries of all catalogs, and all bundled documents, in a common form: an `EntryDescription`.
#pragma once

#include <string>
#include <vector>

#include "document/record.hpp"
#include "document/value.hpp"

namespace sluice {

/// A parameter of a model, or a figure of a platform.
struct Figure {
  std::string name;   ///< as an override names it: "tokens", "links.host.bandwidth"
  std::string value;  ///< the default of a parameter, or the value of a figure
  std::string note;   ///< the meaning of a parameter, or the source of a figure
};

/// The description of one entry of a catalog, or of one bundled document.
struct EntryDescription {
  std::string name, summary;
  std::string details = {};  ///< a paragraph about the entry
  std::string source = {};
  std::string example = {};  ///< a command that uses the entry and runs without changes
  std::string unit = {};     ///< the unit of a metric
  std::string file = {};     ///< the file of a document
  const std::vector<Field>* parameters = nullptr;
  std::vector<Figure> figures = {};
};

/// A kind of list that `sluice list` can show: its name, a phrase about it, and its number of entries.
struct EntryKind {
  std::string name, summary;
  std::size_t count = 0;
};
std::vector<EntryKind> entry_kinds();
std::vector<std::string> entry_kind_names();

/// Returns the entries of one kind: policies, layers, costs, cuts, fates, optimizers, metrics, models, platforms,
/// scenarios or fits. Throws UsageError for any other word.
std::vector<EntryDescription> entries_of_kind(const std::string& kind);

/// Returns the type of a field in words for the user, such as "integer" or "quantity in byte/s".
std::string type_words(const Field& field);

/// Returns the entries as `sluice list --json` prints them.
Value entries_json(const std::vector<EntryDescription>& entries);

}  // namespace sluice
