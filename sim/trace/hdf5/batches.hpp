// Passes spans and memory events in batches to one background thread. The number of batches is fixed. The simulation
// only copies into the batches. If the background thread falls behind, the simulation waits.
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
  struct Work {
    std::function<void()> prepare;              ///< is called before all other work
    std::function<void(const Batch&)> consume;  ///< is called for each batch, in order
    /// Does one piece of low-priority work while no batch is waiting. Returns false when no such
    /// work is left.
    std::function<bool()> idle;
  };
  /// If the work throws, no more work is done. The next call of a function of this class then throws the same
  /// exception.
  explicit BatchQueue(Work work);
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;
  ~BatchQueue();  ///< waits for the thread, and does not report errors

  /// Returns the batch to fill. Call hand_over() when it is full.
  Batch& current() { return *current_; }
  void hand_over();
  /// Passes on the last batch, and waits until all work is done and the thread has ended.
  void finish();

 private:
  void run();
  template <class Piece>
  void attempt(Piece&& piece);
  void join();
  void rethrow();

  Work work_;
  std::vector<std::unique_ptr<Batch>> all_;
  std::vector<Batch*> free_, full_;  ///< the oldest batch of full_ comes first
  Batch* current_ = nullptr;
  std::exception_ptr error_;
  bool ending_ = false;
  bool abandoned_ = false;  ///< the queue is ending, and the remaining work need not be done
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace sluice
