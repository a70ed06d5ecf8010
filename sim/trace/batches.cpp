#include "trace/batches.hpp"

#include <csignal>

namespace sluice {

namespace {

constexpr int batches = 8;

/// Signals go to the thread that simulates: a new thread inherits the mask.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

BatchQueue::BatchQueue(std::function<void()> prepare, std::function<void(const Batch&)> consume)
    : prepare_(std::move(prepare)), consume_(std::move(consume)) {
  for (int i = 0; i < batches; ++i) {
    all_.push_back(std::make_unique<Batch>());
    all_.back()->spans.reserve(Batch::rows);
    all_.back()->events.reserve(Batch::rows);
    free_.push_back(all_.back().get());
  }
  current_ = free_.back();
  free_.pop_back();
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

BatchQueue::~BatchQueue() {
  join();
}

void BatchQueue::run() {
  try {
    prepare_();
  } catch (...) {
    const std::lock_guard held(mutex_);
    error_ = std::current_exception();
  }
  std::unique_lock held(mutex_);
  while (true) {
    changed_.wait(held, [this] { return ending_ || !full_.empty(); });
    if (full_.empty()) return;
    Batch* batch = full_.front();
    full_.erase(full_.begin());
    if (!error_) {
      held.unlock();
      std::exception_ptr error;
      try {
        consume_(*batch);
      } catch (...) {
        error = std::current_exception();
      }
      held.lock();
      error_ = error;
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
