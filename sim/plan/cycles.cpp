#include "plan/cycles.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "plan/fault.hpp"

namespace sluice {

namespace {

/// Checks that the waits within an iteration and the order of the actions on each stream do not form a cycle. Actions
/// that never run are left out.
class CycleSearch {
 public:
  explicit CycleSearch(const PlanTables& tables) : tables_(tables), plan_(tables.plan) {}

  void run() {
    if (waits_look_back()) return;
    colour_.resize(plan_.actions.size(), 0);
    before_.resize(plan_.actions.size(), none);
    for (const BySection& lists : tables_.stream_actions)
      for (const std::vector<std::uint32_t>& list : lists) {
        std::uint32_t last = none;
        for (const std::uint32_t a : list)
          if (runs(a)) before_[a] = std::exchange(last, a);
      }
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
      if (colour_[a] == 0 && runs(a)) visit(a);
  }

 private:
  struct Frame {
    std::uint32_t action;
    std::size_t next = 0;
  };

  /// Returns whether all actions wait only for actions that are listed before them. If so, the actions can run in the
  /// order of the list, and there is no cycle.
  bool waits_look_back() const {
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
      for (const Wait& wait : tables_.waits(a))
        if (wait.action >= a && wait.distance == 0) return false;
    return true;
  }

  bool runs(std::uint32_t a) const { return plan_.executions_of(a) > 0; }

  void visit(std::uint32_t root) {
    path_.assign(1, {root});
    colour_[root] = 1;
    while (!path_.empty()) {
      Frame& frame = path_.back();
      const std::uint32_t next = predecessor(frame.action, frame.next++);
      if (next == end_) {
        colour_[frame.action] = 2;
        path_.pop_back();
      } else if (next != none && colour_[next] == 1) {
        report(next);
      } else if (next != none && colour_[next] == 0) {
        colour_[next] = 1;
        path_.push_back({next});
      }
    }
  }

  /// Returns the action with index k among those that must end before action `a`. First come the actions for which `a`
  /// waits, then the action before `a` on its stream. If k is larger than the index of the action before `a`, returns
  /// `end_`. If the k-th wait of `a` is for an action of another iteration or section, or for an action that never
  /// runs, returns `none`.
  std::uint32_t predecessor(std::uint32_t a, std::size_t k) const {
    const auto waits = tables_.waits(a);
    if (k > waits.size()) return end_;
    if (k == waits.size()) return before_[a];
    const bool same = plan_.section_of(waits[k].action) == plan_.section_of(a);
    const bool orders = same && waits[k].distance == 0 && runs(waits[k].action);
    return orders ? waits[k].action : none;
  }

  [[noreturn]] void report(std::uint32_t entry) const {
    auto from = std::find_if(path_.begin(), path_.end(),
                             [&](const Frame& frame) { return frame.action == entry; });
    std::string names;
    for (; from != path_.end(); ++from)
      names += "'" + name_of(plan_.actions[from->action]) + "'" + " after ";
    plan_fault(plan_, entry,
               "waits and stream order form a cycle: " + names + "'" +
                   name_of(plan_.actions[entry]) + "'");
  }

  static constexpr std::uint32_t end_ = none - 1;
  const PlanTables& tables_;
  const Plan& plan_;
  std::vector<std::uint32_t> before_;  ///< for each action, the previous action of its stream
  std::vector<char> colour_;
  std::vector<Frame> path_;  ///< the path from the first action of the search to the current action
};

}  // namespace

void check_cycles(const PlanTables& tables) {
  CycleSearch(tables).run();
}

}  // namespace sluice
