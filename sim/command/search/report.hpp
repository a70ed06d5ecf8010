// What `sluice search` answers: what was found and how sure that is, CSV, or JSON.
#pragma once

#include <string>

#include "study/search/search.hpp"

namespace sluice {

struct SearchReport {
  const std::string& scenario;  ///< its name
  const SearchRequest& request;
  const SearchResult& result;
};

void print_search(const SearchReport& report, bool csv, bool json);

}  // namespace sluice
