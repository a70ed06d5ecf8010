// Hands spans and memory events in batches to one background thread, with a fixed number of
// batches: the simulation only copies, and waits when the thread falls behind.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "trace/span.hpp"

namespace sluice {

struct Batch {
  static constexpr std::size_t rows = 4096;
  std::vector<Span> spans;
  std::vector<MemoryEvent> events;
};

class BatchQueue {
 public:
  /// `prepare` runs first in the thread, then `consume` for each batch in order. What they throw
  /// comes out of the next call here; batches after it are dropped.
  BatchQueue(std::function<void()> prepare, std::function<void(const Batch&)> consume);
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;
  ~BatchQueue();  ///< waits for the thread; says nothing of errors

  /// The batch to fill; hand_over() when it is full.
  Batch& current() { return *current_; }
  void hand_over();
  /// Hands over what is left, and waits until all is consumed and the thread has ended.
  void finish();

 private:
  void run();
  void join();
  void rethrow();

  std::function<void()> prepare_;
  std::function<void(const Batch&)> consume_;
  std::vector<std::unique_ptr<Batch>> all_;
  std::vector<Batch*> free_, full_;  ///< full_: oldest first
  Batch* current_ = nullptr;
  std::exception_ptr error_;
  bool ending_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace sluice
