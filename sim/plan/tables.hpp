// Tables that are derived from a plan once, before it is executed: which actions each stream has,
// what each action waits for, how often an instance is used. They are data only; each executor has
// its own dynamics.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_pages.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// The actions of one stream by section, in listing order.
using BySection = std::array<std::vector<std::uint32_t>, 3>;

struct PlanTables;

/// Walks through the prologue, body x n and epilogue of one stream, leaving out what is dropped.
class Cursor {
 public:
  Cursor() = default;
  /// `tables` must outlive this.
  Cursor(const PlanTables& tables, std::uint32_t stream);

  bool done() const { return section_ > 2; }
  std::uint32_t action() const { return action_; }
  std::int64_t iteration() const { return iteration_; }
  bool dropped() const;
  void next() {
    if (++position_ < (*lists_)[section_].size())
      action_ = (*lists_)[section_][position_];
    else
      settle();
  }
  /// For a position within the body: moves it some iterations later.
  void skip_iterations(std::int64_t count) { iteration_ += count; }
  bool in_body() const { return section_ == 1; }
  std::size_t position() const { return position_; }
  /// Steps over dropped actions.
  void skip_dropped() {
    while (!done() && dropped()) next();
  }

 private:
  void settle();  ///< moves on to the next section or iteration that has an action
  const PlanTables* tables_ = nullptr;
  const BySection* lists_ = nullptr;
  std::size_t section_ = 0, position_ = 0;
  std::uint32_t action_ = none;
  std::int64_t iteration_ = 0;
};

/// The bytes that one action allocates in one pool.
struct Demand {
  std::uint32_t pool;
  std::int64_t bytes;
};

/// What one action allocates, with what says how often an instance of it is used.
struct Allocation {
  Placement placement;
  std::int64_t bytes = 0;
  /// Uses of an instance that lies so many iterations from both ends of the body that all of them
  /// run; -1: it is used outside of the body, or has one instance in all.
  std::int64_t body_uses = -1;
  std::int32_t least_ahead = 0, most_ahead = 0;  ///< of these uses
};

/// Seconds from the start of an action until a flow of it is through when nothing else is on its
/// links: the setup of its route, then its bytes at the bandwidth of the slowest link.
double seconds_alone(const Plan& plan, const Flow& flow);
/// Seconds for which an action occupies its stream when nothing else is on its links; at least as
/// long as its own flows need where they share links.
double seconds_alone(const Plan& plan, const Action& action);
/// Seconds between its end and its arrival: the longest latency of its flows.
double latency(const Plan& plan, const Action& action);

/// An upper bound of the makespan of any execution: everything one after the other.
double serial_seconds(const Plan& plan);

struct PlanTables {
  explicit PlanTables(const Plan& plan) : PlanTables(plan, [](std::uint32_t) {}) {}
  /// `check(action)` is called for each action before anything that it names is looked up.
  template <class Check>
  PlanTables(const Plan& p, Check&& check) : plan(p) {
    begin();
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
      check(a);
      add_action(a);
    }
    finish();
  }

  std::vector<BySection> stream_actions;  ///< by stream
  std::vector<char> link_shared;          ///< by link: several flows may be on it at a time
  std::vector<char> iterated;             ///< by tensor: has an instance an iteration

  /// sluice::serial_seconds of the plan.
  double serial_seconds() const { return serial_s_; }

  /// Reads the plan's seconds, bandwidths and latencies again; nothing else in the plan has changed
  /// except, possibly, the number of its iterations.
  void time_again();

  std::uint32_t stream(std::uint32_t action) const { return stream_[action]; }
  bool has_flows(std::uint32_t action) const { return has_flows_[action] != 0; }
  /// What an action allocates, and where the tensors lie that it uses.
  std::span<const Allocation> allocations(std::uint32_t action) const {
    return {allocations_.data() + first_allocation_[action],
            allocations_.data() + first_allocation_[action + 1]};
  }
  std::span<const Placement> accesses(std::uint32_t action) const {
    return {accesses_.data() + first_access_[action],
            accesses_.data() + first_access_[action + 1]};
  }
  /// The tensors that actions of the body allocate or use.
  const std::vector<std::uint32_t>& body_tensors() const { return body_tensors_; }
  std::int32_t ahead(std::uint32_t action) const { return ahead_[action]; }

  /// What an action allocates in limited pools.
  std::span<const Demand> demands(std::uint32_t action) const {
    return {demands_.data() + first_demand_[action], demands_.data() + first_demand_[action + 1]};
  }

  /// Whether the flow may have to share a link of its route.
  bool meets_others(const Flow& flow) const;
  bool contention_free() const;

  /// Seconds that an action occupies its stream when nothing else is on its links.
  double seconds_alone(std::uint32_t action) const { return seconds_[action]; }
  double latency(std::uint32_t action) const { return latency_[action]; }
  double not_before(std::uint32_t action) const {
    return not_before_.empty() ? 0 : not_before_[action];
  }
  std::span<const Wait> waits(std::uint32_t action) const {
    return {waits_.data() + first_wait_[action], waits_.data() + first_wait_[action + 1]};
  }
  /// Whether it allocates or uses anything.
  bool touches_memory(std::uint32_t action) const { return touches_memory_[action] != 0; }
  /// Whether it runs more than once.
  bool repeats(std::uint32_t action) const {
    return plan.iterations > 1 && plan.section_of(action) == Section::body;
  }

  /// The instance that an action in iteration i touches.
  std::int64_t instance(std::uint32_t action, std::int64_t iteration, std::uint32_t tensor) const {
    if (!iterated[tensor]) return 0;
    return (action < plan.body_end ? iteration : plan.iterations) + ahead_[action];
  }
  /// How often an iteration of the body uses it.
  std::int64_t uses_an_iteration(const Placement& placement) const;
  /// The number of uses after which this instance is freed in this pool.
  std::int64_t uses(const Placement& placement, std::int64_t instance) const;
  std::int64_t uses(const Allocation& made, std::int64_t instance) const {
    const bool all_run = made.body_uses >= 0 && instance >= made.most_ahead &&
                         instance - made.least_ahead < plan.iterations;
    return all_run ? made.body_uses : uses(made.placement, instance);
  }

  /// The execution to which a wait of `consumer` in `iteration` refers: its iteration, or -1 for
  /// none.
  std::int64_t awaited(std::uint32_t consumer, std::int64_t iteration, const Wait& wait) const {
    if (wait.action < plan.body_begin || wait.action >= plan.body_end) return 0;
    const bool inside = consumer >= plan.body_begin && consumer < plan.body_end;
    const std::int64_t target = (inside ? iteration : plan.iterations - 1) - wait.distance;
    const std::int64_t served = target + ahead_[wait.action];
    return target < 0 || served < 0 || served >= plan.iterations ? -1 : target;
  }

  const Plan& plan;

 private:
  struct Use {
    std::uint32_t pool;
    std::uint32_t action;
    std::int32_t ahead;  ///< of that action
    Section section;     ///< of that action
  };
  /// Of a link, while the tables are made: the first stream with a flow on it, and the last action.
  struct LinkUsers {
    std::uint32_t stream = none, action = none;
  };
  void begin();
  void add_action(std::uint32_t action);
  void add_demand(std::uint32_t action, const Placement& placement);
  void add_flows(std::uint32_t action);
  void add_seconds(std::uint32_t action);
  void finish();
  void sort_uses();
  void count_body_uses(Allocation& made) const;
  void list_body_tensors();
  std::span<const Use> uses_of(std::uint32_t tensor) const {
    return {uses_.data() + first_use_[tensor], uses_.data() + first_use_[tensor + 1]};
  }

  std::vector<LinkUsers> link_users_;
  LargeVector<std::uint32_t> used_;   ///< by use, until these are sorted: its tensor
  double serial_s_ = 0, latest_ = 0;  ///< latest: of the times of the run before which none starts

  // By tensor, and by action, one after the other.
  LargeVector<std::uint32_t> first_use_;
  LargeVector<Use> uses_;
  LargeVector<std::uint32_t> first_demand_{0};
  LargeVector<Demand> demands_;
  // What execution looks at for every action, side by side.
  LargeVector<double> seconds_, latency_;
  std::vector<double> not_before_;  ///< empty where there is none
  LargeVector<std::uint32_t> first_wait_{0};
  LargeVector<Wait> waits_;
  LargeVector<std::int32_t> ahead_;
  LargeVector<std::uint32_t> stream_;
  std::vector<char> touches_memory_, has_flows_;
  LargeVector<std::uint32_t> first_allocation_{0}, first_access_{0};
  LargeVector<Allocation> allocations_;
  LargeVector<Placement> accesses_;
  std::vector<std::uint32_t> body_tensors_;
};

inline Cursor::Cursor(const PlanTables& tables, std::uint32_t stream)
    : tables_(&tables), lists_(&tables.stream_actions[stream]) {
  settle();
}

inline bool Cursor::dropped() const {
  if (section_ != 1) return false;
  const std::int64_t served = iteration_ + tables_->ahead(action_);
  return served < 0 || served >= tables_->plan.iterations;
}

}  // namespace sluice
