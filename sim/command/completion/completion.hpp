// What may follow on a command line, for a shell that completes it.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct Completions {
  std::vector<std::string> words;  ///< whole words that begin with the last one given
  bool files = false;              ///< files may stand there, too
};

/// `words` without the program's name; the last one, perhaps empty, is completed. Never throws for
/// what is wrong with them: nothing is offered then.
Completions completions_of(const std::vector<std::string>& words);

}  // namespace sluice
