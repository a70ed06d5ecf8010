// A run that ends before its end, by an interruption or a disk that is full, says nothing of its
// own.
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdio>

#include "base/error.hpp"
#include "base/processes.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/simgrid/engine.hpp"
#include "support/random_plan.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

/// Fails when it gets the span of that number.
class FailingSink final : public Sink {
 public:
  explicit FailingSink(std::size_t number) : left_(number) {}
  void span(const Span&) override {
    if (left_-- == 0) throw IoError("the disk is full");
  }
  void memory(const MemoryEvent&) override {}

 private:
  std::size_t left_;
};

/// What was thrown, and what the process wrote to its standard error meanwhile.
std::string said_where_span_fails(const Plan& plan, std::size_t number) {
  return run_isolated([&] {
    std::FILE* const file = std::tmpfile();
    ::dup2(::fileno(file), STDERR_FILENO);
    std::string said = "nothing";
    try {
      FailingSink sink(number);
      execute(plan, sink);
    } catch (const std::exception& error) {
      said = error.what();
    }
    std::fflush(stderr);
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) said += static_cast<char>(c);
    return said;
  });
}

}  // namespace

TEST_CASE("a run that fails at any span ends with that failure, and SimGrid says nothing") {
  int failed = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Plan plan = test::random_plan(seed, {.ties = seed % 2 == 0, .shared_links = true});
    MemorySink whole;
    if (replay(plan, whole).blocking) continue;
    for (std::size_t n = 0; n < whole.spans.size(); n += 1 + whole.spans.size() / 12) {
      INFO("seed " << seed << ", span " << n << " of " << whole.spans.size());
      CHECK(said_where_span_fails(plan, n) == "the disk is full");
      ++failed;
    }
  }
  CHECK(failed > 60);
}

}  // namespace sluice
