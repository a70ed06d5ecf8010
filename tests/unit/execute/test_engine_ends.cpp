// Tests runs that an interruption or a full disk ends early. Such a run must report the failure and print nothing else.
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdio>

#include "base/error.hpp"
#include "base/processes.hpp"
#include "document/load.hpp"
#include "execute/simgrid/engine.hpp"
#include "scenario/scenario.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

/// Returns a plan for four cards behind a switch. Its transfers are so slow that at least one is under way at any
/// moment.
Plan plan_of_four_cards() {
  const std::string text =
      "format: sluice-scenario/1\nmodel: cnn_mnist\n"
      "platform: {file: four_v100_switch, links: {host: {bandwidth: 1GB/s}}}\n"
      "workload: {mode: training, batch: 128, micro_batch: 32, steps: 10000}\n"
      "policy: {name: data_parallel, replica: resident}\nstages: per_layer\nfates: offload_all\n";
  return make_plan(scenario_from(parse_text(text, "four.yaml"), "four.yaml", {}));
}

/// Runs a plan with a progress function that throws an exception in the call with the index `number`. Returns the
/// message of this exception, followed by all that the process wrote to its standard error.
std::string said_where_progress_fails(const Plan& plan, int number) {
  return run_isolated([&] {
    std::FILE* const file = std::tmpfile();
    ::dup2(::fileno(file), STDERR_FILENO);
    std::string said = "nothing";
    try {
      NullSink sink;
      int left = number;
      EngineOptions options;
      options.progress = [&left](std::int64_t) {
        if (left-- == 0) throw IoError("the disk is full");
      };
      execute(plan, sink, options);
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

TEST_CASE("a run that fails during transfers reports only this failure") {
  const Plan plan = plan_of_four_cards();
  for (int number = 0; number < 12; ++number) {
    INFO("call " << number);
    CHECK(said_where_progress_fails(plan, number) == "the disk is full");
  }
}

}  // namespace sluice
