// Tests what crosses the border of a process: shortages, and work of programs with threads.
#include <catch2/catch.hpp>

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/packed_shortage.hpp"
#include "base/processes.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

Shortage shortage_with_all_fields() {
  return {
      .pool = "gpu",
      .needed_bytes = 110,
      .available_bytes = 100,
      .by_class = {{"weight", 80}, {"input", 30}},
      .waiters = {{"copy", "1LOAD", "", "gpu", 30, {"x", "y"}}, {"c", "0F", "1LOAD", "", 0, {}}},
      .time_s = 0.1 + 0.2,
      .most_in_flight = 0};
}

TEST_CASE("A shortage keeps all its fields when it crosses the border of a process") {
  for (const Shortage& shortage :
       {shortage_with_all_fields(), Shortage{}, Shortage{.pool = "host"}}) {
    CHECK(shortage_from(packed(shortage)) == shortage);
    try {
      run_isolated([&]() -> std::string { throw Infeasible("does not fit", shortage); });
      FAIL("nothing was thrown");
    } catch (const Infeasible& infeasible) {
      CHECK(std::string(infeasible.what()) == "does not fit");
      CHECK(infeasible.shortage == shortage);
    }
  }
  const auto answers = run_in_processes(1, 1, [](std::size_t) -> std::string {
    throw Infeasible("does not fit", shortage_with_all_fields());
  });
  CHECK(answers.front().fault == "does not fit");
}

/// A thread that waits until this object is destroyed.
class Waiting {
 public:
  ~Waiting() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    change_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable change_;
  bool over_ = false;
  std::thread thread_{[this] {
    std::unique_lock<std::mutex> lock(mutex_);
    change_.wait(lock, [this] { return over_; });
  }};
};

std::string reply(std::string_view request) {
  if (request == "infeasible") throw Infeasible("does not fit", shortage_with_all_fields());
  if (request == "crash") ::raise(SIGKILL);  // a signal that the test program does not handle
  if (request == "endless")
    while (true) {
    }
  return "reply to " + std::string(request);
}

const ChildWork reply_work("reply_of_test_processes", reply);

std::atomic<int> forks = 0;

TEST_CASE("A program with threads is not forked, but started again to do the work of a child") {
  static const int counted = ::pthread_atfork([] { ++forks; }, nullptr, nullptr);
  REQUIRE(counted == 0);
  const std::string large(1'000'000, 'x');  // more than a pipe can hold
  for (const bool threads : {false, true}) {
    std::optional<Waiting> waiting;
    if (threads) waiting.emplace();
    forks = 0;
    CHECK(run_isolated(reply_work, large) == "reply to " + large);
    CHECK(run_isolated(reply_work, "") == "reply to ");
    CHECK(forks == (threads ? 0 : 2));
    try {
      run_isolated(reply_work, "infeasible");
      FAIL("nothing was thrown");
    } catch (const Infeasible& infeasible) {
      CHECK(infeasible.shortage == shortage_with_all_fields());
    }
    CHECK_THROWS_AS(run_isolated(reply_work, "crash"), ChildDied);
    CHECK_THROWS_AS(run_isolated(reply_work, "endless", {.cpu_s = 1}), ChildDied);
  }
}

TEST_CASE("If a program with threads names no program for children, the work is refused") {
  const Waiting waiting;
  set_child_program("");
  CHECK_THROWS_WITH(run_isolated(reply_work, ""), Contains("several threads"));
  set_child_program("/no/such/program");
  CHECK_THROWS_WITH(run_isolated(reply_work, ""), Contains("cannot start '/no/such/program'"));
  set_child_program("/proc/self/exe");
  CHECK(run_isolated(reply_work, "again") == "reply to again");
}

}  // namespace
}  // namespace sluice
