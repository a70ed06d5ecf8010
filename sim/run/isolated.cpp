#include "run/isolated.hpp"

#include <cstring>
#include <type_traits>

namespace sluice {

namespace {

template <class T>
void put(std::string& out, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t count = values.size();
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  if (count > 0) out.append(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
}

template <class T>
void take(const std::string& in, std::size_t& at, std::vector<T>& values) {
  std::size_t count = 0;
  std::memcpy(&count, in.data() + at, sizeof count);
  at += sizeof count;
  values.resize(count);
  if (count > 0) std::memcpy(values.data(), in.data() + at, count * sizeof(T));
  at += count * sizeof(T);
}

}  // namespace

MemoryTrace execute_isolated(const Plan& plan, const EngineOptions& options) {
  const std::string answer = run_isolated([&] {
    MemorySink sink;
    const EngineReport report = execute(plan, sink, options);
    std::string out;
    put(out, std::vector<double>{report.makespan, report.precision});
    put(out, sink.spans);
    put(out, sink.events);
    return out;
  });
  MemoryTrace trace;
  std::vector<double> numbers;
  std::size_t at = 0;
  take(answer, at, numbers);
  take(answer, at, trace.spans);
  take(answer, at, trace.memory);
  trace.report = {numbers.at(0), numbers.at(1)};
  return trace;
}

}  // namespace sluice
