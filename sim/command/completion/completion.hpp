// Finds what may follow on a command line, for a shell that completes it.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct Completions {
  std::vector<std::string> words;  ///< whole words that begin with the last given word
  bool files = false;              ///< files are possible, too
};

/// `words` does not contain the program's name. The last word, which may be empty, is completed. Wrong words never
/// cause an exception, because nothing is offered for them.
Completions completions_of(const std::vector<std::string>& words);

}  // namespace sluice
