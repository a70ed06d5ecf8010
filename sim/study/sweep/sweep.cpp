#include "study/sweep/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/processes.hpp"
#include "base/sha256.hpp"
#include "execute/simgrid/engine.hpp"
#include "study/sweep/store.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_commits(200);

/// What the thread that evaluates a point passes to the thread that stores the outcome.
struct Answer {
  std::size_t place = 0;  ///< the index in SweepResult::points
  std::string key;        ///< the point's key in the store; empty without a store
  PointResult outcome;
  bool is_stored = false;
};

class Sweep {
 public:
  explicit Sweep(const SweepRequest& request) : request_(request) {
    for (std::size_t p = 0; p < request.points.size(); ++p)
      if (request.shard.has(p)) result_.points.push_back(p);
    result_.outcomes.resize(result_.points.size());
    keys_.resize(result_.points.size());
  }

  SweepResult run() {
    if (request_.simgrid || (request_.by_both_executors && request_.verify > 0))
      load_engine();  // The engine is loaded here, before the process forks.
    if (request_.simgrid)
      in_processes();
    else
      in_threads();
    commit();
    verify();
    return std::move(result_);
  }

 private:
  std::vector<std::string> overrides(std::size_t place) const {
    return request_.points.overrides(result_.points[place]);
  }

  std::optional<PointResult> stored(const std::string& key) {
    const std::lock_guard<std::mutex> lock(store_mutex_);
    std::optional<PointResult> outcome = request_.store->find(key);
    if (outcome && request_.retry_failed && outcome->status == PointResult::Status::failed)
      return {};
    return outcome;
  }

  /// Returns the answer of a point from the store. If the store does not have the answer, evaluates the point.
  Answer answer(std::size_t place) {
    const std::vector<std::string> changes = overrides(place);
    if (!request_.store) return {.place = place, .outcome = evaluate(request_.variants, changes)};
    auto [key, scenario] = known_point(request_.variants, changes);
    if (std::optional<PointResult> outcome = stored(key))
      return {.place = place, .key = key, .outcome = std::move(*outcome), .is_stored = true};
    return {.place = place,
            .key = key,
            .outcome = scenario ? evaluate(request_.variants, *scenario)
                                : evaluate(request_.variants, changes)};
  }

  // --- threads -------------------------------------------------------------------------------

  /// Starts the requested number of threads, or fewer if the system refuses more. Throws IoError if the system refuses
  /// all threads.
  std::vector<std::thread> start_threads() {
    std::vector<std::thread> threads;
    const std::size_t count = std::clamp<std::size_t>(request_.jobs, 1, result_.points.size() + 1);
    working_ = count;
    try {
      while (threads.size() < count) threads.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      // A thread needs memory for its stack. So if memory is low, this is the likely reason why no thread started.
      if (threads.empty() && memory_is_low()) throw std::bad_alloc();
      if (threads.empty()) throw IoError(std::string("cannot start a thread: ") + error.what());
      const std::lock_guard<std::mutex> lock(mutex_);
      working_ -= count - threads.size();
    }
    return threads;
  }

  void in_threads() {
    std::vector<std::thread> threads = start_threads();
    std::exception_ptr fault;
    try {
      keep_answers();
    } catch (const Interrupted&) {
      fault = std::current_exception();
      stop_ = true;
      if (ends_by_signal()) end_now();
    } catch (...) {
      fault = std::current_exception();
      stop_ = true;
    }
    for (std::thread& thread : threads) thread.join();
    if (fault) {
      keep_what_is_left();
      std::rethrow_exception(fault);
    }
  }

  void work() {
    while (!stop_) {
      const std::size_t place = next_++;
      if (place >= result_.points.size()) break;
      try {
        hand_over(answer(place));
      } catch (...) {  // An interrupt, or the store cannot be read.
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!fault_) fault_ = std::current_exception();
        break;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    --working_;
    something_.notify_one();
  }

  void hand_over(Answer answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    answers_.push_back(std::move(answer));
    something_.notify_one();
  }

  /// Stores the answers of the threads until all threads have ended. The caller's thread does this work.
  void keep_answers() {
    for (bool over = false; !over;) {
      std::vector<Answer> answers;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        something_.wait_for(lock, between_commits, [&] { return !answers_.empty() || !working_; });
        // After an error, keep_what_is_left() stores the answers that are still in `answers_`.
        if (fault_) std::rethrow_exception(fault_);
        answers.swap(answers_);
        over = working_ == 0;
      }
      for (Answer& one : answers) keep(std::move(one));
      if (Clock::now() - committed_ > between_commits) commit();
      check_interrupt();
    }
  }

  /// Stores the answers so far, closes the store, and ends the process. This function does not wait for the threads to
  /// end: a thread that is making a plan notices a signal late, and then needs time to free its memory.
  void end_now() {
    keep_what_is_left();
    // The lock is never released. So no thread can read from the store after it has been closed.
    store_mutex_.lock();
    if (request_.store) request_.store->close();
    end_now_by_signal();
  }

  void keep_what_is_left() {
    try {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (Answer& one : answers_) keep(std::move(one));
      commit();
    } catch (const std::exception&) {  // The sweep reports only its first error.
    }
  }

  void keep(Answer answer) {
    if (answer.is_stored)
      ++result_.from_store;
    else if (answer.outcome.status == PointResult::Status::complete)
      ++result_.ran;
    if (request_.store && !answer.is_stored) {
      StoredPoint point{answer.key, request_.variants.base().name, {}, answer.outcome};
      const Points& points = request_.points;
      for (std::size_t a = 0; a < points.axes().size(); ++a)
        point.changes.emplace_back(points.axes()[a].key,
                                   points.value(result_.points[answer.place], a));
      const std::lock_guard<std::mutex> lock(store_mutex_);
      request_.store->put(point);
    }
    keys_[answer.place] = std::move(answer.key);
    result_.outcomes[answer.place] = std::move(answer.outcome);
    ++done_;
    if (request_.progress) request_.progress(done_, result_.points.size());
  }

  void commit() {
    if (!request_.store) return;
    const std::lock_guard<std::mutex> lock(store_mutex_);
    request_.store->commit();
    committed_ = Clock::now();
  }

  // --- SimGrid, in processes -------------------------------------------------------------------

  PointResult simulated(const ProcessAnswer& answer) const {
    if (answer.fault.empty()) return unpacked_result(answer.text);
    return failed_result(answer.fault);
  }

  /// Returns true if SimGrid need not run this stored point, because SimGrid gave or confirmed its result, or because
  /// the point has no numbers.
  static bool is_of_simgrid(const PointResult& outcome) {
    return outcome.status != PointResult::Status::complete || outcome.verified ||
           outcome.executor == "simgrid";
  }

  /// Runs each point with SimGrid, in a separate process. If the store already has a result of a point, and
  /// is_of_simgrid() returns true for it, the point is not run again. Each time that a few points have ended, their
  /// results are stored.
  void in_processes() {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < result_.points.size(); ++place) {
      if (request_.store) {
        const std::string key = known_point(request_.variants, overrides(place)).key;
        std::optional<PointResult> there = stored(key);
        if (there && is_of_simgrid(*there)) {
          keep({.place = place, .key = key, .outcome = std::move(*there), .is_stored = true});
          continue;
        }
        keys_[place] = key;
      }
      places.push_back(place);
    }
    const std::size_t at_once = 16 * std::max<std::size_t>(request_.jobs, 1);
    for (std::size_t first = 0; first < places.size(); first += at_once) {
      const std::size_t count = std::min(at_once, places.size() - first);
      const auto answers = run_in_processes(count, request_.jobs, [&](std::size_t i) {
        return packed(evaluate(request_.variants, overrides(places[first + i]), request_.simgrid));
      });
      for (std::size_t i = 0; i < count; ++i) {
        PointResult result = simulated(answers[i]);
        if (!result.executor.empty()) result.executor = "simgrid";
        const std::size_t place = places[first + i];
        keep({.place = place, .key = keys_[place], .outcome = std::move(result)});
      }
      commit();
    }
  }

  /// Repeats some points with SimGrid, and compares the results of SimGrid and of the replay. Each point has a process
  /// of its own. When this function is called, all threads of the sweep have ended.
  void verify() {
    if (request_.simgrid || !request_.by_both_executors) return;
    std::vector<std::size_t> complete;
    for (std::size_t i = 0; i < result_.points.size(); ++i)
      if (result_.outcomes[i].status == PointResult::Status::complete)
        complete.push_back(result_.points[i]);
    std::vector<std::size_t> chosen;  // the indexes, in the result, of the points to repeat
    for (const std::size_t point : points_to_verify(request_.points, complete, request_.verify)) {
      const auto at = std::lower_bound(result_.points.begin(), result_.points.end(), point);
      const auto place = static_cast<std::size_t>(at - result_.points.begin());
      if (!result_.outcomes[place].verified) chosen.push_back(place);
    }
    const auto answers = run_in_processes(chosen.size(), request_.jobs, [&](std::size_t i) {
      return packed(evaluate(request_.variants, overrides(chosen[i]), request_.by_both_executors));
    });
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      require_same(chosen[i], simulated(answers[i]));
      result_.outcomes[chosen[i]].verified = true;
      if (request_.store) request_.store->set_verified(keys_[chosen[i]]);
      ++result_.verified;
    }
    commit();
  }

  void require_same(std::size_t place, const PointResult& simulated) const {
    const PointResult& replayed = result_.outcomes[place];
    const std::string where = "point " + request_.points.text(result_.points[place]) + ": ";
    if (simulated.status != PointResult::Status::complete)
      throw InternalError(where + simulated.message);
    constexpr double tolerance = 1e-9;
    const double a = replayed.number("makespan_s"), b = simulated.number("makespan_s");
    if (std::abs(a - b) > tolerance * std::max(a, b))
      throw InternalError(where + "the replay takes " + std::to_string(a) + " s, SimGrid " +
                          std::to_string(b) + " s");
  }

  const SweepRequest& request_;
  SweepResult result_;
  /// The key of each point in the store, in the order of SweepResult::points. If there is no store, the keys are empty.
  std::vector<std::string> keys_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_, store_mutex_;
  std::condition_variable something_;
  std::vector<Answer> answers_;
  std::size_t working_ = 0, done_ = 0;
  std::exception_ptr fault_;
  Clock::time_point committed_ = Clock::now();
};

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.number);
  bool fine = first == std::errc() && slash != end && *slash == '/';
  if (fine) {
    const auto [stop, second] = std::from_chars(slash + 1, end, shard.count);
    fine = second == std::errc() && stop == end && shard.number >= 1 && shard.number <= shard.count;
  }
  if (!fine)
    throw UsageError(
        "'" + text +
        "' is not a part of a sweep; expected K/N with K from 1 to N, as in 2/4 for the second of four parts");
  return shard;
}

std::size_t SweepResult::count(PointResult::Status status) const {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(),
                    [&](const PointResult& outcome) { return outcome.status == status; }));
}

void SweepResult::require_some_point() const {
  if (outcomes.empty() || count(PointResult::Status::failed) < outcomes.size()) return;
  const std::string& reason = outcomes.front().message;
  if (says_out_of_memory(reason)) throw InternalError(reason);
  throw InputError("no point could be run; the message of the first point:\n" + reason);
}

std::vector<std::size_t> points_to_verify(const Points& points,
                                          const std::vector<std::size_t>& complete, double share) {
  std::vector<std::pair<std::string, std::size_t>> hashed;
  for (const std::size_t point : complete)
    hashed.emplace_back(sha256_of(points.text(point)), point);
  std::sort(hashed.begin(), hashed.end());
  hashed.resize(static_cast<std::size_t>(
      std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(hashed.size()))));
  std::vector<std::size_t> chosen;
  for (const auto& [hash, point] : hashed) chosen.push_back(point);
  return chosen;
}

SweepResult run_sweep(const SweepRequest& request) {
  return Sweep(request).run();
}

}  // namespace sluice
