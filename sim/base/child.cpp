#include "base/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>

#include "base/interrupt.hpp"
#include "base/memory_file.hpp"
#include "base/number_in.hpp"
#include "base/packed_shortage.hpp"
#include "base/packed_strings.hpp"

namespace sluice {

namespace {

/// The only argument of a program that was started by spawn_child().
constexpr const char* work_option = "--work-of-a-child";

std::vector<const ChildWork*>& works() {
  static std::vector<const ChildWork*> all;
  return all;
}

std::string& program() {
  static std::string path;
  return path;
}

void write_all(int descriptor, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(70);
    data.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string answer_of(const std::function<std::string()>& work) {
  const auto failed = [](int exit_code, const std::string& message) {
    return static_cast<char>(exit_code) + message;
  };
  try {
    return '\0' + work();
  } catch (const Infeasible& error) {
    return failed(code_of_infeasible, pack({error.what(), packed(error.shortage)}));
  } catch (const Error& error) {
    return failed(error.exit_code(), error.what());
  } catch (const std::exception& error) {
    return failed(70, says_out_of_memory(error) && memory_is_low() ? out_of_memory : error.what());
  }
}

/// Returns the bytes of address space that this process uses.
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

#ifdef __SANITIZE_ADDRESS__  // the address sanitizer reserves terabytes of addresses
constexpr bool limits_addresses = false;
#else
constexpr bool limits_addresses = true;
#endif

void apply(const ChildLimits& limits) {
  if (limits_addresses && limits.more_bytes > 0)
    lower(RLIMIT_AS, address_space() + static_cast<rlim_t>(limits.more_bytes));
  if (limits.cpu_s > 0) lower(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_s));
  if (limits.wall_s == 0) return;
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm_only, nullptr);
  ::alarm(limits.wall_s);
}

/// Does the work that spawn_child() asks for on standard input. Writes its answer to `descriptor`.
void do_requested_work(int descriptor) {
  const MemoryFile memory = MemoryFile::of(Descriptor(STDIN_FILENO));
  const std::vector<std::string_view> parts = unpack(memory.view());
  const auto found = std::find_if(works().begin(), works().end(), [&](const ChildWork* work) {
    return work->name() == parts.at(0);
  });
  if (found == works().end() || ::getppid() != number_in<pid_t>(parts.at(1)).value()) _exit(70);
  const ChildLimits limits = {.more_bytes = number_in<std::int64_t>(parts.at(2)).value(),
                              .cpu_s = number_in<std::int64_t>(parts.at(3)).value(),
                              .wall_s = number_in<unsigned>(parts.at(4)).value()};
  answer([&] { return (*found)->run(parts.at(5)); }, limits, descriptor);
}

/// Returns a copy of the descriptor that is none of the three standard descriptors. The copy is closed when a program
/// is started.
Descriptor moved(int descriptor) {
  Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!copy) throw IoError(std::string("cannot copy a descriptor: ") + std::strerror(errno));
  return copy;
}

}  // namespace

ChildWork::ChildWork(std::string name, std::string (*run)(std::string_view request))
    : name_(std::move(name)), run_(run) {
  works().push_back(this);
}

void set_child_program(std::string path) {
  program() = std::move(path);
}

void answer(const std::function<std::string()>& work, const ChildLimits& limits, int descriptor) {
  apply(limits);
  write_all(descriptor, answer_of(work));
}

pid_t spawn_child(const ChildWork& work, std::string_view request, const ChildLimits& limits,
                  int descriptor) {
  if (program().empty())
    throw InternalError(
        "this program has several threads, so it cannot be copied for a child process; call "
        "set_child_program() to name a program that does the work of the child");
  const std::string text =
      pack({work.name(), std::to_string(::getpid()), std::to_string(limits.more_bytes),
            std::to_string(limits.cpu_s), std::to_string(limits.wall_s), request});
  const MemoryFile memory = MemoryFile::make(text.size());
  std::copy(text.begin(), text.end(), memory.data());
  const Descriptor in = moved(memory.file().get()), out = moved(descriptor);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t signals;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out.get(), STDOUT_FILENO);
  ::posix_spawnattr_init(&signals);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&signals, &none);
  ::posix_spawnattr_setflags(&signals, POSIX_SPAWN_SETSIGMASK);
  std::string words[] = {program(), work_option};
  char* const arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, words[0].c_str(), &files, &signals, arguments, environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&signals);
  if (error == ENOMEM) throw std::bad_alloc();
  if (error != 0) throw IoError("cannot start '" + program() + "': " + std::strerror(error));
  return pid;
}

void do_work_of_child(int count, char** words) {
  if (count != 2 || std::strcmp(words[1], work_option) != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is handled by the parent
  end_as_child_when_memory_is_out();
  // Libraries may print to standard output. So the answer gets a descriptor of its own.
  const int answers = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    do_requested_work(answers);
  } catch (const std::bad_alloc&) {
    _exit(ended_without_memory);
  } catch (...) {
    _exit(70);
  }
  _exit(0);
}

}  // namespace sluice
