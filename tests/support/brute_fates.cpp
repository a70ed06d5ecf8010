#include "support/brute_fates.hpp"

#include <algorithm>
#include <map>

#include "support/brute_script.hpp"
#include "support/oracle.hpp"

namespace sluice::test {

namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 50;

/// Makes a plan from a script. For each load, the caller names the step before which the plan lists the load.
class Listing {
 public:
  Listing(const Script& script, std::int64_t budget, const std::vector<double>& weights_s)
      : script_(script) {
    plan_.pools = {{.name = "gpu", .capacity = budget, .owner = "gpu"}};
    plan_.streams = {{.name = "compute"},
                     {.name = "down", .kind = StreamKind::copy},
                     {.name = "up", .kind = StreamKind::copy}};
    for (const Made& made : script.tensors()) plan_.tensors.push_back({.bytes = made.bytes});
    for (const double seconds : weights_s)
      weights_.push_back(seconds > 0 ? add(ActionKind::load, 1, seconds) : none);
  }

  /// Returns the plan. The loads are numbered in the order in which the steps need them. The plan lists load i before
  /// the step with the index `places[i]`.
  Plan plan(const std::vector<std::size_t>& places) {
    std::vector<std::uint32_t> loads;
    for (const Step& step : script_.steps())
      loads.insert(loads.end(), step.loads.begin(), step.loads.end());
    // `arrives` maps a tensor to the action that loads it, and `saved` maps a tensor to the action that saves it.
    std::map<std::uint32_t, std::uint32_t> arrives, saved;
    std::size_t next = 0;
    for (std::size_t i = 0; i < script_.steps().size(); ++i) {
      for (; next < loads.size() && places[next] <= i; ++next) {
        const Made& made = script_.tensors()[loads[next]];
        const std::uint32_t load = add(ActionKind::load, 1, made.load_s);
        plan_.actions[load].allocates.push_back({loads[next], 0});
        if (made.copy_of != no_tensor) wait(load, saved.at(made.copy_of));
        arrives[loads[next]] = load;
      }
      const Step& step = script_.steps()[i];
      const std::uint32_t run = add(ActionKind::forward, 0, step.seconds);
      // The first steps are the first forward passes of the stages. So step i waits for the weights of stage i.
      if (i < weights_.size() && weights_[i] != none) wait(run, weights_[i]);
      for (const std::uint32_t loaded : step.loads) wait(run, arrives.at(loaded));
      for (const std::uint32_t t : step.makes) {
        plan_.actions[run].allocates.push_back({t, 0});
        use(run, t);
      }
      for (const std::uint32_t t : step.reads) use(run, t);
      if (step.workspace > 0) {
        plan_.tensors.push_back({.bytes = step.workspace});
        const auto space = static_cast<std::uint32_t>(plan_.tensors.size() - 1);
        plan_.actions[run].allocates.push_back({space, 0});
        plan_.actions[run].uses.push_back({space, 0});
      }
      for (const std::uint32_t t : step.saves) {
        saved[t] = add(ActionKind::save, 2, script_.tensors()[t].save_s);
        wait(saved[t], run);
        use(saved[t], t);
      }
    }
    plan_.body_begin = plan_.body_end = count();
    return plan_;
  }

 private:
  std::uint32_t count() const { return static_cast<std::uint32_t>(plan_.actions.size()); }
  std::uint32_t add(ActionKind kind, std::uint32_t stream, double seconds) {
    Action action;
    action.kind = kind;
    action.stream = stream;
    action.seconds = seconds;
    plan_.actions.push_back(std::move(action));
    return count() - 1;
  }
  void wait(std::uint32_t action, std::uint32_t other) {
    plan_.actions[action].waits.push_back({other, 0});
  }
  void use(std::uint32_t action, std::uint32_t tensor) {
    plan_.actions[action].uses.push_back({tensor, 0});
  }

  const Script& script_;
  /// For each stage, the action that loads its weights. `none` for a stage without weights.
  std::vector<std::uint32_t> weights_;
  Plan plan_;
};

class Everything {
 public:
  Everything(const Chain& chain, std::int64_t budget, const std::vector<double>& weights_s,
             bool overlap, double below)
      : chain_(chain), budget_(budget), weights_s_(weights_s), overlap_(overlap) {
    found_.seconds = below;
    for (const double seconds : weights_s) weights_total_ += seconds;
    ways_.resize(chain.stages.size());
  }

  BruteForce run() {
    const double below = found_.seconds;
    choose(0);
    if (found_.seconds >= below) found_.seconds = std::numeric_limits<double>::infinity();
    return found_;
  }

 private:
  void choose(std::size_t s) {
    const std::size_t n = chain_.stages.size();
    if (s == n) {
      for (const bool input_again : {false, true}) {
        const Script script(chain_, ways_, input_again, overlap_, false);
        consider(script);
        if (script.loads_weights()) consider(Script(chain_, ways_, input_again, overlap_, true));
      }
      return;
    }
    const ChainStage& stage = chain_.stages[s];
    for (int again = static_cast<int>(n) - 1; again >= static_cast<int>(s) - 1; --again) {
      ways_[s].second_run = again >= static_cast<int>(s) ? again : -1;
      for (const auto inner : {Ways::first, Ways::host, Ways::second}) {
        if (inner == Ways::second && ways_[s].second_run < 0) continue;
        if (inner != Ways::first && stage.inner.bytes == 0) continue;
        ways_[s].inner = inner;
        for (const bool to_host : {false, true}) {
          if (to_host && (s + 1 == n || stage.output.bytes == 0)) continue;
          ways_[s].output_to_host = to_host;
          choose(s + 1);
        }
      }
    }
  }

  void consider(const Script& script) {
    if (!script.useful()) return;
    const double computed = script.computed(), loaded = script.loaded(), saved = script.saved();
    if (!overlap_) {
      const double seconds = weights_total_ + computed + loaded + saved + script.turns();
      if (seconds >= found_.seconds || script.peak() > budget_) return;
      ++found_.tapes;
      found_.seconds = seconds;
      return;
    }
    const double least = std::max(
        {weights_total_ + loaded, saved, weights_total_ + script.first_loaded() + computed});
    if (least >= found_.seconds || script.peak() > budget_) return;
    ++found_.tapes;
    place(script);
  }

  /// Executes a plan for each way to place the loads among the steps. The order of the loads does not change.
  void place(const Script& script) {
    std::vector<std::size_t> needed, earliest;
    std::map<std::uint32_t, std::size_t> saved_by;
    for (std::size_t i = 0; i < script.steps().size(); ++i) {
      for (const std::uint32_t t : script.steps()[i].loads) {
        needed.push_back(i);
        const std::uint32_t copy = script.tensors()[t].copy_of;
        earliest.push_back(copy == no_tensor ? 0 : saved_by.at(copy) + 1);
      }
      for (const std::uint32_t t : script.steps()[i].saves) saved_by[t] = i;
    }
    // With unlimited memory, no place is better than an earlier place.
    std::vector<std::size_t> places = earliest;
    for (std::size_t i = 1; i < places.size(); ++i) places[i] = std::max(places[i], places[i - 1]);
    if (seconds(script, unlimited, places) >= found_.seconds) return;
    place(script, needed, earliest, places, 0);
  }

  double seconds(const Script& script, std::int64_t budget,
                 const std::vector<std::size_t>& places) const {
    const OracleResult result = oracle(Listing(script, budget, weights_s_).plan(places));
    return result.blocked ? std::numeric_limits<double>::infinity() : result.makespan;
  }

  /// Tries all places of the loads from `load` on. In `places`, the loads before it have their places, and the others have
  /// the earliest places that are then possible.
  void place(const Script& script, const std::vector<std::size_t>& needed,
             const std::vector<std::size_t>& earliest, const std::vector<std::size_t>& places,
             std::size_t load) {
    if (load == places.size()) {
      ++found_.executed;
      found_.seconds = std::min(found_.seconds, seconds(script, budget_, places));
      return;
    }
    const std::size_t from = std::max(earliest[load], load > 0 ? places[load - 1] : 0);
    for (std::size_t at = needed[load] + 1; at-- > from;) {
      std::vector<std::size_t> next = places;
      for (std::size_t i = load; i < next.size(); ++i) next[i] = std::max(next[i], at);
      if (at > from && seconds(script, unlimited, next) >= found_.seconds) continue;
      place(script, needed, earliest, next, load + 1);
    }
  }

  const Chain& chain_;
  std::int64_t budget_;
  const std::vector<double>& weights_s_;
  bool overlap_;
  double weights_total_ = 0;
  std::vector<Ways> ways_;
  BruteForce found_;
};

}  // namespace

BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below) {
  return Everything(chain, budget, weights_s, overlap, below).run();
}

}  // namespace sluice::test
