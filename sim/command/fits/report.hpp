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

/// Format sluice-fits/1; the help of `sluice fits` describes the keys.
std::string fits_json(const FitsAnswer& answer);
/// Memory by class, then the cards, then accumulation.
std::string fits_text(const FitsAnswer& answer);

/// The same for several strategies for fates, asked for the same cards.
std::string fits_json(const std::vector<FitsAnswer>& answers);
/// A table of strategies and cards.
std::string fits_text(const std::vector<FitsAnswer>& answers);

}  // namespace sluice
