// Makes the answer of `sluice search` as text, CSV or JSON. A point is one combination of the values of the keys that
// the search varies. The answer has the best point, and says whether another point may be better.
#pragma once

#include <string>

#include "study/search/search.hpp"

namespace sluice {

struct SearchReport {
  const std::string& scenario;  ///< name of the scenario
  const SearchRequest& request;
  const SearchResult& result;
};

void print_search(const SearchReport& report, bool csv, bool json);

}  // namespace sluice
