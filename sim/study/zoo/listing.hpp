// What there is: the entries of the catalogs and the documents of the zoo, as one kind of list.
#pragma once

#include <string>
#include <vector>

#include "document/record.hpp"
#include "document/value.hpp"

namespace sluice {

/// What is known of one entry, whatever its kind.
struct Listed {
  std::string name, summary, source;
  std::string unit;  ///< of a metric
  std::string file;  ///< of a document
  const std::vector<Field>* parameters = nullptr;
};

/// Of policies, layers, costs, cuts, fates, optimizers, metrics, models, platforms or scenarios.
/// Throws UsageError for any other word.
std::vector<Listed> listing(const std::string& kind);

/// "integer", "quantity in byte/s" … for people.
std::string type_words(const Field& field);

/// As `sluice list --json` has it.
Value listing_json(const std::vector<Listed>& entries);

}  // namespace sluice
