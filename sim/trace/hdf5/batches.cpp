#include "trace/hdf5/batches.hpp"

#include "base/interrupt.hpp"

namespace sluice {

namespace {

constexpr int batches = 16;

}  // namespace

BatchQueue::BatchQueue(Work work) : work_(std::move(work)) {
  for (int i = 0; i < batches; ++i) {
    all_.push_back(std::make_unique<Batch>());
    all_.back()->spans.reserve(Batch::rows);
    all_.back()->events.reserve(Batch::rows);
    free_.push_back(all_.back().get());
  }
  current_ = free_.back();
  free_.pop_back();
  const SignalsHeld held;  // The new thread gets no signals: the thread that simulates handles them.
  thread_ = std::thread([this] { run(); });
}

BatchQueue::~BatchQueue() {
  {
    const std::lock_guard held(mutex_);
    abandoned_ = true;
  }
  join();
}

/// Runs a piece of work. The caller must not hold `mutex_`, because the simulation would wait for this mutex. An
/// exception of the work is stored, and the thread of the simulation throws it later.
template <class Piece>
void BatchQueue::attempt(Piece&& piece) {
  try {
    piece();
  } catch (...) {
    const std::lock_guard held(mutex_);
    error_ = std::current_exception();
  }
}

void BatchQueue::run() {
  attempt(work_.prepare);
  bool idle_work = true;
  std::unique_lock held(mutex_);
  while (true) {
    if (error_ || abandoned_) idle_work = false;
    if (full_.empty() && idle_work) {
      held.unlock();
      attempt([&] { idle_work = work_.idle(); });
      held.lock();
      continue;
    }
    changed_.wait(held, [this] { return ending_ || !full_.empty(); });
    if (full_.empty()) {
      if (idle_work) continue;
      return;
    }
    Batch* batch = full_.front();
    full_.erase(full_.begin());
    if (!error_ && !abandoned_) {
      held.unlock();
      attempt([&] { work_.consume(*batch); });
      held.lock();
    }
    batch->spans.clear();
    batch->events.clear();
    free_.push_back(batch);
    changed_.notify_all();
  }
}

void BatchQueue::rethrow() {
  if (error_) std::rethrow_exception(error_);
}

void BatchQueue::hand_over() {
  std::unique_lock held(mutex_);
  rethrow();
  full_.push_back(current_);
  changed_.notify_all();
  changed_.wait(held, [this] { return !free_.empty(); });
  current_ = free_.back();
  free_.pop_back();
}

void BatchQueue::join() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard held(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchQueue::finish() {
  hand_over();
  join();
  rethrow();
}

}  // namespace sluice
