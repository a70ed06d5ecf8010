// What `sluice fits` answers, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "study/fits/fits.hpp"

namespace sluice {

struct FitsAnswer {
  FitsRequest request;
  FitsReport report;
  std::vector<std::string> names;  ///< of the cards, as the command line gave them
  std::vector<std::string> files;  ///< where the scenarios were written; empty: nowhere
};

/// format sluice-fits/1; the keys are described in the help of `sluice fits`.
std::string fits_json(const FitsAnswer& answer);
/// Memory by class, then the cards, then accumulation.
std::string fits_text(const FitsAnswer& answer);

/// The same of several strategies for fates, which are asked of the same cards.
std::string fits_json(const std::vector<FitsAnswer>& answers);
/// A table of strategies and cards.
std::string fits_text(const std::vector<FitsAnswer>& answers);

}  // namespace sluice
