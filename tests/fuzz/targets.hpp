// The targets of the fuzzer. A target takes any text. It reads the text, or throws an Error that says what is wrong
// with the text. Tests also run the targets: on the mutants that tests/unit/test_mutations.cpp makes, and on the
// corpus in tests/fuzz/corpus.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

struct FuzzTarget {
  const char* name;  ///< the name of the target, and of its folder in the corpus
  /// Reads the text, or throws an Error that refuses it. Any other exception shows a fault of
  /// Sluice. An InternalError is an Error, but also shows a fault.
  void (*read)(const std::string& text, const std::string& path);
  /// A path that a file with such a text may have, relative to the root of the repository.
  const char* path;
};

const std::vector<FuzzTarget>& fuzz_targets();

/// Returns null if no target has this name.
const FuzzTarget* fuzz_target(std::string_view name);

// These targets write each document that they read. If the written text is read again, the result must be an equal
// document.
void read_model_text(const std::string& text, const std::string& path);
void read_platform_text(const std::string& text, const std::string& path);
void read_scenario_text(const std::string& text, const std::string& path);
void read_plan_text(const std::string& text, const std::string& path);

}  // namespace sluice::test
