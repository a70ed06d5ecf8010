// Tables that are made from a plan before it runs. They have the actions of each stream, the waits of each action, and
// the number of uses of each instance. The tables are only data: the executors have the loops over events.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_pages.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// The actions of one stream: one list per section, in listing order.
using BySection = std::array<std::vector<std::uint32_t>, 3>;

struct PlanTables;

/// Goes through the executions of one stream: the prologue, n runs of the body, and the epilogue. It also visits
/// executions that are dropped.
class Cursor {
 public:
  Cursor() = default;
  /// `tables` must live longer than this object.
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
  /// Moves the cursor forward by `count` iterations. The cursor must be in the body.
  void skip_iterations(std::int64_t count) { iteration_ += count; }
  bool in_body() const { return section_ == 1; }
  std::size_t position() const { return position_; }
  /// Moves the cursor to the next execution that is not dropped. If the present execution is not dropped, the cursor
  /// stays.
  void skip_dropped() {
    while (!done() && dropped()) next();
  }

 private:
  void settle();  ///< moves the cursor to the next section or iteration that has an action
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

/// A tensor that an action allocates, and how often an instance of the tensor is used.
struct Allocation {
  Placement placement;
  std::int64_t bytes = 0;
  /// How often an instance is used if none of its uses is dropped. Uses are dropped only near the first and the last
  /// iteration. The number is -1 for a tensor with a single instance, and for a tensor that is also used outside of the
  /// body.
  std::int64_t body_uses = -1;
  /// The least and the greatest UsedPlacement::ahead of the actions that use the tensor, or 0. `least_ahead` also
  /// counts how far these actions look back (Access::distance).
  std::int32_t least_ahead = 0, most_ahead = 0;
};

/// An operand of an action (Access). It is the instance of the iteration `ahead` iterations after that of the action.
struct UsedPlacement : Placement {
  std::int32_t ahead = 0;
};

/// Returns the seconds from the start of an action to the end of its flow, if the flow is alone on its links. These
/// seconds are the setup of the route plus (bytes of the flow) / (bandwidth of the slowest link).
double seconds_alone(const Plan& plan, const Flow& flow);
/// Returns the seconds for which an action occupies its stream, if no other action uses its links. If several flows of
/// the action cross the same link, the seconds are at least the time that this link needs for all of them.
double seconds_alone(const Plan& plan, const Action& action);
/// Returns the seconds from the end of an action to the arrival of its data: the longest latency of its flows.
double latency(const Plan& plan, const Action& action);

/// Returns an upper bound of the plan's makespan: the seconds that all its actions take one after the other.
double serial_seconds(const Plan& plan);

struct PlanTables {
  explicit PlanTables(const Plan& plan) : PlanTables(plan, [](std::uint32_t) {}) {}
  /// Calls `check(a)` for the number `a` of each action, before the action's indices of streams, tensors, pools and
  /// routes are used.
  template <class Check>
  PlanTables(const Plan& p, Check&& check) : plan(p) {
    begin();
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
      check(a);
      add_action(a);
    }
    finish();
  }

  std::vector<BySection> stream_actions;  ///< indexed by stream
  /// Indexed by link: whether several flows may use the link at the same time.
  std::vector<char> link_shared;
  /// Indexed by tensor: whether the tensor has one instance per iteration.
  std::vector<char> iterated;

  /// Returns the value of sluice::serial_seconds() for the plan.
  double serial_seconds() const { return serial_s_; }

  /// Reads the plan's seconds, bandwidths and latencies again, after they have changed. The number of iterations may
  /// have changed, too, but nothing else in the plan.
  void time_again();

  std::uint32_t stream(std::uint32_t action) const { return stream_[action]; }
  bool has_flows(std::uint32_t action) const { return has_flows_[action] != 0; }
  /// allocations() returns the tensors that an action allocates. accesses() returns the tensors that it uses, with
  /// their pools.
  std::span<const Allocation> allocations(std::uint32_t action) const {
    return {allocations_.data() + first_allocation_[action],
            allocations_.data() + first_allocation_[action + 1]};
  }
  std::span<const UsedPlacement> accesses(std::uint32_t action) const {
    return {accesses_.data() + first_access_[action], accesses_.data() + first_access_[action + 1]};
  }
  /// The tensors that actions of the body allocate or use.
  const std::vector<std::uint32_t>& body_tensors() const { return body_tensors_; }
  std::int32_t ahead(std::uint32_t action) const { return ahead_[action]; }

  /// Returns how many bytes an action allocates in each pool whose bytes are limited.
  std::span<const Demand> demands(std::uint32_t action) const {
    return {demands_.data() + first_demand_[action], demands_.data() + first_demand_[action + 1]};
  }

  /// Returns whether the flow may have to share a link of its route with another flow.
  bool meets_others(const Flow& flow) const;
  bool contention_free() const;

  /// Returns the value of sluice::seconds_alone() for an action.
  double seconds_alone(std::uint32_t action) const { return seconds_[action]; }
  double latency(std::uint32_t action) const { return latency_[action]; }
  double not_before(std::uint32_t action) const {
    return not_before_.empty() ? 0 : not_before_[action];
  }
  std::span<const Wait> waits(std::uint32_t action) const {
    return {waits_.data() + first_wait_[action], waits_.data() + first_wait_[action + 1]};
  }
  /// Returns whether the action allocates or uses any tensor.
  bool touches_memory(std::uint32_t action) const { return touches_memory_[action] != 0; }
  /// Returns whether the action runs more than once.
  bool repeats(std::uint32_t action) const {
    return plan.iterations > 1 && plan.section_of(action) == Section::body;
  }

  /// Returns which instance of the tensor the action allocates in this iteration.
  std::int64_t instance(std::uint32_t action, std::int64_t iteration, std::uint32_t tensor) const {
    return instance(action, iteration, UsedPlacement{{tensor, none}, ahead_[action]});
  }
  /// Returns which instance of the operand the action uses in this iteration.
  std::int64_t instance(std::uint32_t action, std::int64_t iteration,
                        const UsedPlacement& used) const {
    if (!iterated[used.tensor]) return 0;
    return (action < plan.body_end ? iteration : plan.iterations) + used.ahead;
  }
  /// Returns how often one iteration of the body uses the tensor in this pool.
  std::int64_t uses_an_iteration(const Placement& placement) const;
  /// Returns how often an instance of a tensor is used in this pool. At the end of the last use, the instance is freed.
  std::int64_t uses(const Placement& placement, std::int64_t instance) const;
  std::int64_t uses(const Allocation& made, std::int64_t instance) const {
    const bool all_run = made.body_uses >= 0 && instance >= made.most_ahead &&
                         instance - made.least_ahead < plan.iterations;
    return all_run ? made.body_uses : uses(made.placement, instance);
  }

  /// Returns the iteration of the execution for which the action `consumer` waits in iteration `iteration`. Returns -1
  /// if there is no such execution.
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
    std::int32_t ahead;      ///< UsedPlacement::ahead
    std::uint16_t distance;  ///< Access::distance
    Section section;         ///< the section of the action
  };
  /// For a link: the first stream with a flow on it, and the last action so far with a flow on it. These numbers are
  /// needed only while the tables are made.
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
  LargeVector<std::uint32_t> used_;   ///< the tensor of each use, until the uses are sorted
  double serial_s_ = 0, latest_ = 0;  ///< `latest_` is the latest `not_before` of all actions

  // The uses are sorted by tensor. The demands for bytes are sorted by action.
  LargeVector<std::uint32_t> first_use_;
  LargeVector<Use> uses_;
  LargeVector<std::uint32_t> first_demand_{0};
  LargeVector<Demand> demands_;
  // Executors read the following numbers for every execution. For speed, the numbers of all actions are next to each
  // other in memory.
  LargeVector<double> seconds_, latency_;
  std::vector<double> not_before_;  ///< empty if no action has a `not_before`
  LargeVector<std::uint32_t> first_wait_{0};
  LargeVector<Wait> waits_;
  LargeVector<std::int32_t> ahead_;
  LargeVector<std::uint32_t> stream_;
  std::vector<char> touches_memory_, has_flows_;
  LargeVector<std::uint32_t> first_allocation_{0}, first_access_{0};
  LargeVector<Allocation> allocations_;
  LargeVector<UsedPlacement> accesses_;
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
