// Finds what may follow on a command line, for a shell that completes it.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct Completions {
  std::vector<std::string> words;  ///< complete words that begin with the last given word
  bool files = false;              ///< whether names of files are possible, too
};

/// Returns what may replace the last of `words`, which may be empty or the beginning of a word. `words` does not
/// contain the program's name. For wrong words it returns nothing instead of throwing.
Completions completions_of(const std::vector<std::string>& words);

}  // namespace sluice
