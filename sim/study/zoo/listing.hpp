// What there is: the entries of the catalogs and the documents of the zoo, as one kind of list.
#pragma once

#include <string>
#include <vector>

#include "document/record.hpp"
#include "document/value.hpp"

namespace sluice {

/// A parameter of a model, or a figure of a platform.
struct Figure {
  std::string name;   ///< as an override has it: "tokens", "links.host.bandwidth"
  std::string value;  ///< of a parameter its default
  std::string note;   ///< what it means, or where it comes from
};

/// What is known of one entry, whatever its kind.
struct Listed {
  std::string name, summary, source = {};
  std::string example = {};  ///< a command that runs as it stands
  std::string unit = {};     ///< of a metric
  std::string file = {};     ///< of a document
  const std::vector<Field>* parameters = nullptr;
  std::vector<Figure> figures = {};
};

/// What there is to be listed: a kind, a sentence, and how many there are of it.
struct ListedKind {
  std::string name, summary;
  std::size_t count = 0;
};
std::vector<ListedKind> listed_kinds();
std::vector<std::string> listed_kind_names();

/// Of policies, layers, costs, cuts, fates, optimizers, metrics, models, platforms or scenarios.
/// Throws UsageError for any other word.
std::vector<Listed> listing(const std::string& kind);

/// "integer", "quantity in byte/s" … for people.
std::string type_words(const Field& field);

/// As `sluice list --json` has it.
Value listing_json(const std::vector<Listed>& entries);

}  // namespace sluice
