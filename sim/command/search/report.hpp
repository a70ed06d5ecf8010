// The answer of `sluice search`. It has the best point and how certain it is, as text, CSV or JSON.
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
