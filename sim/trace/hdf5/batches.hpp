// Passes spans and memory events in batches to one background thread. The simulation only copies spans and events into
// the batches. The number of batches is fixed. So the simulation may have to wait for a free batch.
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
    /// Writes a batch. The background thread calls this function with the full batches, oldest first.
    std::function<void(const Batch&)> consume;
    /// Does one piece of other work. The background thread calls this function while no batch is full. Returns false if
    /// no other work is left.
    std::function<bool()> idle;
  };
  /// The background thread calls the functions of `work`. After an exception, the thread does no more work. The next
  /// hand_over() or finish() throws this exception.
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
  /// Whether the destructor has been called. If so, the thread leaves all remaining work undone.
  bool abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace sluice
