// Passes spans and memory events in batches to one background thread. The number of batches is fixed. The simulation
// only copies spans and events into the batches. If the background thread is slower than the simulation, the simulation
// waits for a free batch.
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
    std::function<void()> prepare;  ///< is called before any batch is written
    /// The queue calls this function for each batch, in the order in which batches were handed over.
    std::function<void(const Batch&)> consume;
    /// Does a piece of the work that is done only while no batch waits. Returns false if none of this work is left.
    std::function<bool()> idle;
  };
  /// If a function of the work throws an exception, no more work is done. The next call of a function of this class
  /// throws this exception again.
  explicit BatchQueue(Work work);
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;
  ~BatchQueue();  ///< waits until the thread has ended, and does not report errors

  /// Returns the batch to fill. Call hand_over() when this batch is full.
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
  /// Whether the queue is ending without finish(), so that the remaining work need not be done.
  bool abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace sluice
