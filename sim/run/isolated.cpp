#include "run/isolated.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace sluice {

namespace {

void write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(70);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

/// The answer's first byte is the exit code, 0 for a result.
[[noreturn]] void be_child(int descriptor, const std::function<std::string()>& work) {
  std::string answer(1, '\0');
  try {
    answer += work();
  } catch (const Error& error) {
    answer = static_cast<char>(error.exit_code());
    answer += error.what();
  } catch (const std::exception& error) {
    answer = static_cast<char>(70);
    answer += error.what();
  }
  write_all(descriptor, answer.data(), answer.size());
  _exit(0);
}

std::string read_all(int descriptor) {
  std::string answer;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

[[noreturn]] void rethrow(int exit_code, const std::string& message) {
  switch (exit_code) {
    case 2:
      throw UsageError(message);
    case 3:
      throw InputError(message);
    case 4:
      throw Infeasible(message);
    case 5:
      throw IoError(message);
    case 130:
      throw Interrupted(2);
    case 143:
      throw Interrupted(15);
    default:
      throw InternalError(message);
  }
}

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

std::string run_isolated(const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) throw IoError(std::string("cannot make a pipe: ") + std::strerror(errno));
  std::fflush(nullptr);  // or the child would print what waits in the buffers, too
  const pid_t child = ::fork();
  if (child < 0) throw IoError(std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], work);
  }
  ::close(ends[1]);
  const std::string answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    throw InternalError("the run's process died: " + std::string(strsignal(WTERMSIG(status))));
  if (answer.empty()) throw InternalError("the run's process ended without an answer");
  const int exit_code = static_cast<unsigned char>(answer.front());
  if (exit_code != 0) rethrow(exit_code, answer.substr(1));
  return answer.substr(1);
}

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
