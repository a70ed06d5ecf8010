// The answer of `sluice fits`, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "study/fits/fits.hpp"

namespace sluice {

struct FitsAnswer {
  FitsRequest request;
  FitsReport report;
  std::vector<std::string> names;  ///< names of the cards, as given on the command line
  std::vector<std::string> files;  ///< files to which the scenarios were written; empty: none
};

/// Returns the format sluice-fits/1, whose keys the help of `sluice fits` describes.
std::string fits_json(const FitsAnswer& answer);
/// Returns tables of memory by class, of the cards, and of accumulation.
std::string fits_text(const FitsAnswer& answer);

/// The same for several strategies for fates on the same cards.
std::string fits_json(const std::vector<FitsAnswer>& answers);
/// Returns a table with one row per strategy and one column per card.
std::string fits_text(const std::vector<FitsAnswer>& answers);

}  // namespace sluice
