// The readers as a fuzzer sees them: each takes any text, and either reads it or says what is wrong
// with it. The same functions read the mutants of tests/unit/test_mutations.cpp and the corpus in
// tests/fuzz/corpus.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

struct FuzzTarget {
  const char* name;  ///< also of its folder in the corpus
  /// Throws Error where the text is refused. Whatever else leaves it is a fault of ours, and so is
  /// an InternalError.
  void (*read)(const std::string& text, const std::string& path);
  const char* path;  ///< where such a text could stand, below the root of the sources
};

const std::vector<FuzzTarget>& fuzz_targets();

/// Null where no target has that name.
const FuzzTarget* fuzz_target(std::string_view name);

// What is read is written, and what is written reads back as the same.
void read_model_text(const std::string& text, const std::string& path);
void read_platform_text(const std::string& text, const std::string& path);
void read_scenario_text(const std::string& text, const std::string& path);
void read_plan_text(const std::string& text, const std::string& path);

}  // namespace sluice::test
