#include "run/isolated.hpp"

#include <charconv>

#include "base/packed_strings.hpp"
#include "base/processes.hpp"
#include "base/quantity.hpp"
#include "run/recording/recording.hpp"

namespace sluice {

namespace {

double number_of(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

MemoryTrace execute_isolated(const Plan& plan, const EngineOptions& options) {
  load_engine();
  const std::string answer = run_isolated([&] {
    MemorySink sink;
    const EngineReport report = execute(plan, sink, options);
    Recording recording;
    recording.spans = std::move(sink.spans);
    recording.memory = std::move(sink.events);
    return pack({exact(report.makespan), exact(report.precision), bytes_of(recording)});
  });
  const std::vector<std::string_view> parts = unpack(answer);
  Recording recording = recording_from(parts.at(2));
  return {.report = {number_of(parts.at(0)), number_of(parts.at(1))},
          .spans = std::move(recording.spans),
          .memory = std::move(recording.memory)};
}

}  // namespace sluice
