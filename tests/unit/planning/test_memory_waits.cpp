// Tests what MemoryWaits finds in a small program, and the times that follow from it.
#include <catch2/catch.hpp>

#include "planning/slots/memory_waits.hpp"

namespace sluice {
namespace {

/// A program of four operations on one device:
///   0  makes 600 bytes, which are saved
///   1  makes 500 bytes
///   2  needs a load of 450 bytes
///   3  needs a load of 400 bytes
/// A load takes 0.01 s per byte.
Program small_program() {
  Program program;
  program.devices = {"gpu"};
  program.operations.resize(4);
  const auto add = [&](std::int64_t bytes, std::int64_t at, bool loaded) {
    Program::Instance made;
    made.bytes = bytes;
    made.first = made.last = at;
    made.loaded = loaded;
    made.load_s = loaded ? 0.01 * static_cast<double>(bytes) : 0;
    const auto number = static_cast<std::uint32_t>(program.instances.size());
    program.instances.push_back(made);
    Program::Operation& operation = program.operations[static_cast<std::size_t>(at)];
    (loaded ? operation.loads : operation.makes).push_back(number);
  };
  add(600, 0, false);
  add(500, 1, false);
  add(450, 2, true);
  add(400, 3, true);
  program.instances[0].saved_at = 0;
  program.operations[0].saves.push_back(0);
  return program;
}

TEST_CASE("a small memory lets operations wait for saves, and loads for operations", "[unit]") {
  const Program program = small_program();
  const MemoryWaits waits(program, 1000);
  // The 600 bytes that are being saved and the 500 bytes of operation 1 do not fit together.
  CHECK(waits.saves == std::vector<std::uint32_t>{0, 1, 1, 1});
  // During operation 0, there is no room for 450 bytes, but for 400 bytes.
  CHECK(waits.load_after == std::vector<std::int64_t>{-1, -1, 0, -1});
  CHECK(waits.room == std::vector<std::int64_t>{400, 500, 550, 600});
  CHECK(waits.load_s_per_byte.front() == Approx(0.01));

  const MemoryWaits none(program, 2000);
  CHECK(none.saves == std::vector<std::uint32_t>(4, 0));
  CHECK(none.load_after == std::vector<std::int64_t>(4, -1));
}

TEST_CASE("loads for which there was no room come after the operation that left no room",
          "[unit]") {
  const Program program = small_program();
  const MemoryWaits waits(program, 1000);
  MemoryRun run(waits, 1);
  CHECK(run.start(0, 0) == 0);
  run.end(0, 0, 1);
  run.end_save(0, 7);
  CHECK(run.start(1, 0) == 7);
  run.end(1, 0, 8);
  // The load for operation 2 fits beside operation 1, so it may have ended. The load for operation 3 does not fit
  // beside both: of the 850 bytes, at least 350 are loaded after operation 1.
  run.need(0, 450);
  CHECK(run.start(2, 0) <= 8);
  run.end(2, 0, 8);
  run.need(0, 400);
  CHECK(run.start(3, 0) == Approx(8 + 3.5));
}

TEST_CASE("weights that stay count only from the first operation of their stage on", "[unit]") {
  // In the first round, the weights of stage 1 may come after operation 1, although they stay on the device.
  Program program = small_program();
  program.staying = {{.device = 0, .weights = 50}, {.device = 0, .weights = 200}};
  program.operations[2].stage = program.operations[3].stage = 1;
  const MemoryWaits waits(program, 1000);
  CHECK(waits.room == std::vector<std::int64_t>{350, 450, 300, 350});
}

}  // namespace
}  // namespace sluice
