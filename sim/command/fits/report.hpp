// Makes the answer of `sluice fits` for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "study/fits/fits.hpp"

namespace sluice {

struct FitsAnswer {
  FitsRequest request;
  FitsReport report;
  /// The names of the cards, as the user wrote them on the command line.
  std::vector<std::string> names;
  /// The files to which the scenarios were written. Empty if none were written.
  std::vector<std::string> files;
};

/// Returns the answer in the format sluice-fits/1. The help of `sluice fits` describes its keys.
std::string fits_json(const FitsAnswer& answer);
/// Returns three tables: the memory by class of tensors, the cards, and the accumulation.
std::string fits_text(const FitsAnswer& answer);

/// Returns the answers for several strategies in the format sluice-fits/1. All strategies have the same list of cards.
std::string fits_json(const std::vector<FitsAnswer>& answers);
/// Returns a table with one row per strategy and one column per card.
std::string fits_text(const std::vector<FitsAnswer>& answers);

}  // namespace sluice
