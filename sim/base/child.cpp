#include "base/child.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

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

/// The bytes of address space that this process has.
rlim_t address_space() {
  std::ifstream in("/proc/self/statm");
  rlim_t pages = 0;
  in >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

void lower(int resource, rlim_t value) {
  rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= value) return;
  limit.rlim_cur = value;
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void apply(const ChildLimits& limits) {
#ifndef __SANITIZE_ADDRESS__  // which takes terabytes of addresses for itself
  if (limits.more_bytes > 0)
    lower(RLIMIT_AS, address_space() + static_cast<rlim_t>(limits.more_bytes));
#endif
  if (limits.cpu_s > 0) lower(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_s));
}

}  // namespace

std::string run_isolated(const std::function<std::string()>& work, const ChildLimits& limits) {
  int ends[2];
  if (::pipe(ends) != 0) throw IoError(std::string("cannot make a pipe: ") + std::strerror(errno));
  std::fflush(nullptr);  // or the child would print what waits in the buffers, too
  const pid_t child = ::fork();
  if (child < 0) throw IoError(std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    apply(limits);
    be_child(ends[1], work);
  }
  ::close(ends[1]);
  const std::string answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    throw ChildDied("the run's process died: " + std::string(strsignal(WTERMSIG(status))));
  if (answer.empty()) throw ChildDied("the run's process ended without an answer");
  const int exit_code = static_cast<unsigned char>(answer.front());
  if (exit_code != 0) rethrow(exit_code, answer.substr(1));
  return answer.substr(1);
}

}  // namespace sluice
