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
  /// Throws Error when the text is refused. Any other exception is a fault of Sluice, and so is
  /// an InternalError.
  void (*read)(const std::string& text, const std::string& path);
  const char* path;  ///< a path for such a text, below the root of the sources
};

const std::vector<FuzzTarget>& fuzz_targets();

/// Returns null if no target has this name.
const FuzzTarget* fuzz_target(std::string_view name);

// A target writes each document that it reads, and checks that the written text reads back as the same.
void read_model_text(const std::string& text, const std::string& path);
void read_platform_text(const std::string& text, const std::string& path);
void read_scenario_text(const std::string& text, const std::string& path);
void read_plan_text(const std::string& text, const std::string& path);

}  // namespace sluice::test
