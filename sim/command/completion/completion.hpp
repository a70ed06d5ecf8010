// Finds the words with which a shell may complete a command line.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct Completions {
  std::vector<std::string> words;  ///< the possible words that begin with the last word of the line
  bool files = false;              ///< whether names of files are also possible
};

/// Returns the words that may replace the last element of `words`. This element may be empty or the start of a word.
/// Parameter `words` does not contain the program's name. If `words` has errors, the result is empty.
Completions completions_of(const std::vector<std::string>& words);

}  // namespace sluice
