// The fuzzer, which tests/fuzz/run.py starts. SLUICE_FUZZ_TARGET names the target, and libFuzzer gets the command
// line.
#include <cstdio>
#include <cstdlib>

#include "base/error.hpp"
#include "fuzz/targets.hpp"

namespace {

const sluice::test::FuzzTarget& chosen() {
  static const sluice::test::FuzzTarget* const target = [] {
    const char* const name = std::getenv("SLUICE_FUZZ_TARGET");
    const sluice::test::FuzzTarget* found = name ? sluice::test::fuzz_target(name) : nullptr;
    if (found) return found;
    std::fprintf(stderr, "SLUICE_FUZZ_TARGET is none of:");
    for (const auto& known : sluice::test::fuzz_targets()) std::fprintf(stderr, " %s", known.name);
    std::fprintf(stderr, "\n");
    std::exit(2);
  }();
  return *target;
}

[[noreturn]] void fault(const char* what) {
  std::fprintf(stderr, "fault: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const std::string root = SLUICE_SOURCE_DIR "/";
  try {
    chosen().read(text, root + chosen().path);
  } catch (const sluice::Error& error) {
    if (error.exit_code() == 70) fault(error.what());
  } catch (const std::exception& error) {
    fault(error.what());
  }
  return 0;
}
