#include "planning/training/late_loads.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/never.hpp"

namespace sluice {

namespace {

/// A clock for a round in which operations run without pauses: loads and saves take no time. It says when each
/// operation starts, and which operation runs at a given time.
class Clock {
 public:
  explicit Clock(const Program& program) {
    for (const Program::Operation& operation : program.operations) {
      starts_.push_back(now_);
      now_ += operation.seconds;
    }
  }
  double seconds() const { return now_; }  ///< seconds of a round
  double start(std::int64_t operation) const {
    const auto count = static_cast<std::int64_t>(starts_.size());
    double time = 0;
    for (; operation < 0; operation += count) time -= now_;
    return time + starts_[static_cast<std::size_t>(operation)];
  }
  /// Returns the operation that runs at `time`. If a load is listed before this operation, the load starts at `time`
  /// or earlier. A negative number is an operation of the previous round.
  std::int64_t operation_at(double time) const {
    const auto count = static_cast<std::int64_t>(starts_.size());
    if (time < 0 && now_ > 0) {
      const double back = std::ceil(-time / now_);
      if (back > 1) return -count;
      return operation_at(time + back * now_) - count;
    }
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), time);
    return std::max<std::int64_t>(0, after - starts_.begin() - 1);
  }

 private:
  std::vector<double> starts_;
  double now_ = 0;
};

class LateLoads {
 public:
  LateLoads(Program& program, const std::vector<double>& latency_s, const std::optional<Pace>& pace)
      : program_(program), latency_s_(latency_s), clock_(program), writes_(program) {
    if (!pace) return;
    std::vector<double> busy(latency_s.size(), 0);
    for (const Program::Load& load : program.loads)
      busy[program.instances[load.instance].device] += program.instances[load.instance].load_s;
    const double most = *std::max_element(busy.begin(), busy.end());
    if (most > 0) slower_ = pace->loads * clock_.seconds() / most;
    latency_s_.assign(latency_s.size(), pace->latency * clock_.seconds());
  }

  void place() {
    const std::vector<double> latest = latest_begins();
    std::vector<double> free(latency_s_.size(), -never);
    for (std::size_t i = 0; i < program_.loads.size(); ++i) {
      Program::Load& load = program_.loads[i];
      const Program::Instance& made = program_.instances[load.instance];
      const double sooner = clock_.start(operation_at(latest[i]) - 1);
      const double begin = std::max(sooner, std::min(free[made.device], latest[i]));
      free[made.device] = begin + seconds(made);
      load.earliest = std::max(std::min(operation_at(begin) + 1, load.needed),
                               first_moment(load.instance, load.needed));
      load.after = load.earliest - 1;
    }
  }

 private:
  /// Returns for each load the latest time at which it may begin. The function goes through the loads backwards,
  /// because each load must end before the next load begins. The last loads of a round must end before the first loads
  /// of the next round, so the function goes through all loads a second time. But if the loads of a round take longer
  /// than its computations, it ignores the next round.
  std::vector<double> latest_begins() const {
    const std::vector<Program::Load>& loads = program_.loads;
    std::vector<double> begins(loads.size());
    std::vector<double> next(latency_s_.size(), never), busy(latency_s_.size(), 0);
    for (const bool again : {false, true}) {
      for (std::size_t d = 0; again && d < next.size(); ++d)
        next[d] = busy[d] <= clock_.seconds() + rounding() ? next[d] + clock_.seconds() : never;
      for (std::size_t i = loads.size(); i-- > 0;) {
        const Program::Instance& made = program_.instances[loads[i].instance];
        begins[i] =
            std::min(next[made.device], clock_.start(loads[i].needed) - latency_s_[made.device]) -
            seconds(made);
        next[made.device] = begins[i];
        if (!again) busy[made.device] += seconds(made);
      }
    }
    return begins;
  }

  /// Returns the first operation before which the load may be listed. If the load reads what a save has written, this
  /// is the operation after the save.
  std::int64_t first_moment(std::uint32_t number, std::int64_t needed) const {
    const Program::Instance& made = program_.instances[number];
    if (made.copy_of != none)
      return std::min(program_.instances[made.copy_of].saved_at + 1, needed);
    if (const auto written = writes_.before(number, needed))
      return std::min(written->operation + 1 -
                          static_cast<std::int64_t>(written->rounds_ago) * program_.count(),
                      needed);
    return 1 - program_.count();
  }

  double seconds(const Program::Instance& made) const { return slower_ * made.load_s; }

  /// Returns the greatest difference in seconds at which two times count as equal. Many loads begin or end at the same
  /// time as an operation: equal operations and copies come in all passes, and if load_late() got a `pace`, the seconds
  /// of loads depend on the seconds of computations. Then rounding must not decide which of the two comes first, or
  /// equal passes would have loads at different places.
  double rounding() const { return 1e-9 * clock_.seconds(); }
  std::int64_t operation_at(double time) const { return clock_.operation_at(time + rounding()); }

  Program& program_;
  std::vector<double> latency_s_;
  Clock clock_;
  HomeWrites writes_;
  double slower_ = 1;  ///< the factor by which the seconds of loads on this machine are multiplied
};

/// Sorts the loads of each operation.
void put_in_order(Program& program, LoadOrder order) {
  if (order == LoadOrder::as_listed) return;
  std::ranges::stable_sort(program.loads, {}, [&](const Program::Load& load) {
    const Program::Instance& made = program.instances[load.instance];
    const std::int64_t weights_first = made.home == Program::Home::weights ? 0 : 1;
    return std::pair(load.needed, order == LoadOrder::smallest_first ? made.bytes : weights_first);
  });
}

}  // namespace

std::vector<double> load_latencies(const Platform& platform,
                                   const std::vector<std::string>& devices) {
  std::vector<double> latency_s;
  for (const std::string& device : devices)
    latency_s.push_back(platform.path(platform.host().name, device).latency_s);
  return latency_s;
}

void load_late(Program& program, const std::vector<double>& latency_s,
               const LoadSequence& sequence) {
  program.loads = loads_when_needed(program);
  put_in_order(program, sequence.order);
  LateLoads(program, latency_s, sequence.pace).place();
}

}  // namespace sluice
