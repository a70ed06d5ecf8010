// The program sluice-worker is the helper of a Python process. A process can run only one simulation with SimGrid. So
// the Python process runs no simulations itself. It sends requests to the helper, and the helper forks a child process
// for each request. protocol.hpp describes the requests. The helper is also the program that imports files for the
// Python process (set_child_program).
//
// The helper has one thread and one loop. The helper ends when the control socket is closed, and thus at the end of its
// Python process. A child ends when its channel is shut down, or when the helper ends.
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "base/freed_memory.hpp"
#include "base/interrupt.hpp"
#include "base/packed_strings.hpp"
#include "base/processes.hpp"
#include "document/load.hpp"
#include "execute/simgrid/engine.hpp"
#include "profile/hdf5.hpp"
#include "python/protocol.hpp"
#include "python/worker/requests.hpp"
#include "run/plan_json.hpp"

namespace sluice::helper {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int control = STDIN_FILENO;
/// How long a child may take to end after SIGTERM. If the child has not ended by then, the helper sends SIGKILL.
constexpr std::chrono::milliseconds grace(500);

void send_message(int channel, const Message& message, const std::vector<int>& files = {}) {
  const bool wait = message.kind != Message::Kind::progress;
  send(channel, {reinterpret_cast<const char*>(&message), sizeof message}, files, wait);
}

// --- the child -------------------------------------------------------------------------------

/// Sends the outcome of a request: a result, or the exit code and the text of an error.
void send_answer(int channel, std::int64_t code, const Memory& memory) {
  send_message(channel, {Message::Kind::answer, code, 0}, {memory.file().get()});
}

void send_error(int channel, int code, std::string_view text) {
  const Memory memory = Memory::make(text.size());
  std::copy(text.begin(), text.end(), memory.data());
  send_answer(channel, code, memory);
}

void do_request(int channel, Descriptor request) {
  try {
    const Memory memory = Memory::of(std::move(request));
    send_answer(channel, 0,
                answer(unpack(memory.view()), [&](std::int64_t done, std::int64_t total) {
                  send_message(channel, {Message::Kind::progress, done, total});
                }));
  } catch (const Infeasible& infeasible) {
    send_error(channel, infeasible.exit_code(), to_json(json_shortage(infeasible), 0));
  } catch (const Error& error) {
    send_error(channel, error.exit_code(), error.what());
  } catch (const std::bad_alloc&) {
    send_error(channel, 70, out_of_memory);
  } catch (const std::exception& error) {
    send_error(channel, 70, error.what());
  }
}

void be_child(Descriptor channel, Descriptor request) {
  ::close(control);
  sigset_t nothing;
  sigemptyset(&nothing);
  sigprocmask(SIG_SETMASK, &nothing, nullptr);
  install_interrupt_handlers();
  do_request(channel.get(), std::move(request));
}

// --- the loop --------------------------------------------------------------------------------

/// A request whose child is running.
struct Child {
  pid_t pid;
  Descriptor channel;
  bool ending = false;  ///< whether the helper has sent SIGTERM to the child
  Clock::time_point deadline{};
};

class Loop {
 public:
  Loop() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    signals_ = Descriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  void run() {
    while (true) {
      wait();
      if (polled_[1].revents != 0) reap();
      for (std::size_t i = 2; i < polled_.size(); ++i)
        if ((polled_[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) call_off(polled_[i].fd);
      kill_late();
      if (polled_[0].revents != 0 && !accept()) break;
    }
    for (const Child& child : children_) ::kill(child.pid, SIGKILL);
  }

 private:
  void wait() {
    polled_ = {{control, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    int timeout = -1;
    for (const Child& child : children_) {
      if (!child.ending)
        polled_.push_back({child.channel.get(), POLLRDHUP, 0});
      else
        timeout = static_cast<int>(grace.count());
    }
    if (::poll(polled_.data(), polled_.size(), timeout) < 0)
      for (pollfd& one : polled_) one.revents = 0;
  }

  /// Accepts a request. Returns false if no more requests will come.
  bool accept() {
    char byte = 0;
    Received received = receive(control, &byte, 1);
    if (received.ended) return false;
    if (received.descriptors.size() != 2) return true;
    Descriptor channel = std::move(received.descriptors[0]);
    Descriptor request = std::move(received.descriptors[1]);
    try {
      // After the fork, push_back must not fail for lack of memory: otherwise, the helper would not know the child. So
      // the memory for push_back is reserved before the fork.
      children_.reserve(children_.size() + 1);
      const pid_t pid = fork_child([&] {
        children_.clear();
        signals_.reset();
        be_child(std::move(channel), std::move(request));
      });
      children_.push_back({pid, std::move(channel)});
    } catch (const IoError& error) {
      send_error(channel.get(), error.exit_code(), error.what());
    } catch (const std::bad_alloc&) {
      send_error(channel.get(), 70, out_of_memory);
    }
    return true;
  }

  void reap() {
    signalfd_siginfo ignored;
    while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
    }
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto same = [&](const Child& child) { return child.pid == pid; };
      const auto child = std::find_if(children_.begin(), children_.end(), same);
      if (child == children_.end()) continue;
      const bool failed = WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
      if (failed)
        send_message(child->channel.get(),
                     {Message::Kind::died, WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0});
      children_.erase(child);
    }
  }

  void call_off(int channel) {
    for (Child& child : children_) {
      if (child.channel.get() != channel) continue;
      child.ending = true;
      child.deadline = Clock::now() + grace;
      ::kill(child.pid, SIGTERM);
    }
  }

  void kill_late() {
    for (const Child& child : children_)
      if (child.ending && Clock::now() >= child.deadline) ::kill(child.pid, SIGKILL);
  }

  Descriptor signals_;
  std::vector<Child> children_;
  std::vector<pollfd> polled_;
};

}  // namespace
}  // namespace sluice::helper

int main(int count, char** words) {
  sluice::keep_freed_memory();
  sluice::do_work_of_child(count, words);
  sluice::set_child_program("/proc/self/exe");
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is handled only by the Python process.
  // A process inherits the signals that its parent ignores. The parent of the helper may ignore SIGCHLD, which the
  // helper needs. So this call resets SIGCHLD.
  std::signal(SIGCHLD, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  // With this call, a write beyond the limit of file sizes returns an error, as a write to a full disk does. Without
  // it, a signal would end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  sluice::know_hdf5_profiles();
  try {
    sluice::load_engine();  // All children inherit the loaded engine.
  } catch (const sluice::Error&) {
    // Each request that needs the engine reports the error.
  }
  sluice::helper::Loop().run();
  return 0;
}
