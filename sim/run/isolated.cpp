#include "run/isolated.hpp"

#include "base/number_in.hpp"
#include "base/packed_strings.hpp"
#include "base/processes.hpp"
#include "base/quantity.hpp"
#include "run/recording/recording.hpp"

namespace sluice {

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
  return {
      .report = {number_in<double>(parts.at(0)).value(), number_in<double>(parts.at(1)).value()},
      .spans = std::move(recording.spans),
      .memory = std::move(recording.memory)};
}

}  // namespace sluice
