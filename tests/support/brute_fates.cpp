#include "support/brute_fates.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "support/brute_script.hpp"
#include "support/oracle.hpp"

namespace sluice::test {

namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 50;

/// Makes a plan from a script. For each load, the caller names the step before which the plan lists the load.
class Listing {
 public:
  Listing(const Script& script, const std::vector<std::int64_t>& budgets,
          const std::vector<double>& weights_s)
      : script_(script) {
    for (std::size_t d = 0; d < script.devices(); ++d) {
      const std::string name = "gpu" + std::to_string(d);
      plan_.pools.push_back({.name = name, .capacity = budgets[d], .owner = name});
      plan_.streams.push_back({.name = name});
      plan_.streams.push_back({.name = name + ".down", .kind = StreamKind::copy});
      plan_.streams.push_back({.name = name + ".up", .kind = StreamKind::copy});
    }
    for (const Made& made : script.tensors()) plan_.tensors.push_back({.bytes = made.bytes});
    for (const double seconds : weights_s)
      weights_.push_back(seconds > 0 ? add(ActionKind::load, 0, down, seconds) : none);
  }

  /// Returns the plan. The loads are numbered in the order in which the steps need them. The plan lists load i before
  /// the step with the index `places[i]`.
  Plan plan(const std::vector<std::size_t>& places) {
    std::vector<std::uint32_t> loads;
    for (const Step& step : script_.steps())
      loads.insert(loads.end(), step.loads.begin(), step.loads.end());
    // `arrives` maps a tensor to the action that loads it, and `saved` maps a tensor to the action that saves it.
    std::map<std::uint32_t, std::uint32_t> arrives, saved;
    std::uint32_t last = none;
    for (std::size_t i = 0; i < script_.steps().size(); ++i) {
      for (std::size_t l = 0; l < loads.size(); ++l) {
        if (places[l] != i) continue;
        const Made& made = script_.tensors()[loads[l]];
        const std::uint32_t load = add(ActionKind::load, made.device, down, made.load_s);
        plan_.actions[load].allocates.push_back({loads[l], made.device});
        if (made.copy_of != no_tensor) wait(load, saved.at(made.copy_of));
        arrives[loads[l]] = load;
      }
      const Step& step = script_.steps()[i];
      const std::uint32_t run = add(ActionKind::forward, step.device, compute, step.seconds);
      if (last != none) wait(run, last);
      last = run;
      // The first steps are the first forward passes of the stages. So step i waits for the weights of stage i.
      if (i < weights_.size() && weights_[i] != none) wait(run, weights_[i]);
      for (const std::uint32_t loaded : step.loads) wait(run, arrives.at(loaded));
      for (const std::uint32_t t : step.makes) {
        plan_.actions[run].allocates.push_back({t, step.device});
        use(run, t, step.device);
      }
      for (const std::uint32_t t : step.reads) use(run, t, step.device);
      if (step.workspace > 0) {
        plan_.tensors.push_back({.bytes = step.workspace});
        const auto space = static_cast<std::uint32_t>(plan_.tensors.size() - 1);
        plan_.actions[run].allocates.push_back({space, step.device});
        use(run, space, step.device);
      }
      for (const std::uint32_t t : step.saves) {
        saved[t] = add(ActionKind::save, step.device, up, script_.tensors()[t].save_s);
        wait(saved[t], run);
        use(saved[t], t, step.device);
      }
    }
    plan_.body_begin = plan_.body_end = count();
    return plan_;
  }

 private:
  enum StreamOfDevice : std::uint32_t { compute, down, up };
  std::uint32_t count() const { return static_cast<std::uint32_t>(plan_.actions.size()); }
  std::uint32_t add(ActionKind kind, std::uint32_t device, StreamOfDevice stream, double seconds) {
    Action action;
    action.kind = kind;
    action.stream = 3 * device + stream;
    action.seconds = seconds;
    plan_.actions.push_back(std::move(action));
    return count() - 1;
  }
  void wait(std::uint32_t action, std::uint32_t other) {
    plan_.actions[action].waits.push_back({other, 0});
  }
  void use(std::uint32_t action, std::uint32_t tensor, std::uint32_t device) {
    plan_.actions[action].uses.push_back({tensor, device});
  }

  const Script& script_;
  /// For each stage, the action that loads its weights. `none` for a stage without weights.
  std::vector<std::uint32_t> weights_;
  Plan plan_;
};

class Everything {
 public:
  Everything(const std::vector<Chain>& on, const std::vector<std::int64_t>& budgets,
             const std::vector<double>& weights_s, bool overlap, double below)
      : on_(on), budgets_(budgets), weights_s_(weights_s), overlap_(overlap) {
    found_.seconds = below;
    for (const double seconds : weights_s) weights_total_ += seconds;
    ways_.resize(on.front().stages.size());
  }

  BruteForce run() {
    const double below = found_.seconds;
    choose(0);
    if (found_.seconds >= below) found_.seconds = std::numeric_limits<double>::infinity();
    return found_;
  }

 private:
  void choose(std::size_t s) {
    const std::size_t n = on_.front().stages.size();
    if (s == n) {
      for (const bool input_again : {false, true}) {
        const Script script(on_, ways_, input_again, overlap_, false);
        const double before = found_.seconds;
        consider(script);
        if (script.loads_weights()) consider(Script(on_, ways_, input_again, overlap_, true));
        if (found_.seconds < before) found_.fastest = text(input_again);
      }
      return;
    }
    const ChainStage& stage = on_.front().stages[s];
    for (int again = static_cast<int>(n) - 1; again >= static_cast<int>(s) - 1; --again) {
      ways_[s].second_run = again >= static_cast<int>(s) ? again : -1;
      for (const auto inner : {Ways::first, Ways::host, Ways::second}) {
        if (inner == Ways::second && ways_[s].second_run < 0) continue;
        if (inner != Ways::first && stage.inner.bytes == 0) continue;
        ways_[s].inner = inner;
        for (const std::vector<bool>& leaves : ways_to_leave(s)) {
          ways_[s].output_leaves = leaves;
          choose(s + 1);
        }
      }
    }
  }

  std::string text(bool input_again) const {
    std::string text = input_again ? "the input is loaded again" : "the input is loaded once";
    for (std::size_t s = 0; s < ways_.size(); ++s) {
      const Ways& way = ways_[s];
      text += "; stage " + std::to_string(s) + ":";
      if (way.second_run >= 0)
        text += " runs again before backward pass " + std::to_string(way.second_run) + ",";
      text += way.inner == Ways::host     ? " inner tensors from host memory"
              : way.inner == Ways::second ? " inner tensors from the second run"
                                          : " inner tensors from the first run";
      for (std::size_t d = 0; d < way.output_leaves.size(); ++d)
        if (way.output_leaves[d]) text += ", the output leaves device " + std::to_string(d);
    }
    return text;
  }

  /// Returns the sets of devices that the output of stage s may leave after the last forward pass. A device that it leaves
  /// must have a later pass that reads it.
  std::vector<std::vector<bool>> ways_to_leave(std::size_t s) const {
    const Chain& chain = on_.front();
    std::vector<std::vector<bool>> all = {std::vector<bool>(on_.size(), false)};
    if (s + 1 == chain.stages.size() || chain.stages[s].output.bytes == 0) return all;
    std::vector<bool> may_leave(on_.size(), false);
    if (chain.stages[s].reads_output) may_leave[s % on_.size()] = true;
    for (std::size_t reader = s + 1; reader < chain.stages.size(); ++reader)
      chain.each_read(reader, [&](std::size_t b, bool) {
        if (b == s + 1) may_leave[reader % on_.size()] = true;
      });
    for (std::size_t d = 0; d < on_.size(); ++d)
      for (std::size_t i = may_leave[d] ? all.size() : 0; i-- > 0;) {
        all.push_back(all[i]);
        all.back()[d] = true;
      }
    return all;
  }

  bool fits(const Script& script) const {
    for (std::uint32_t d = 0; d < on_.size(); ++d)
      if (script.peak(d) > budgets_[d]) return false;
    return true;
  }

  void consider(const Script& script) {
    if (!script.useful()) return;
    const double computed = script.computed();
    if (!overlap_) {
      const double seconds =
          weights_total_ + computed + script.loaded() + script.saved() + script.turns();
      if (seconds >= found_.seconds || !fits(script)) return;
      ++found_.tapes;
      found_.seconds = seconds;
      return;
    }
    double least = weights_total_ + script.first_loaded() + computed;
    for (std::uint32_t d = 0; d < on_.size(); ++d)
      least = std::max({least, weights_total_ + script.loaded_on(d), script.saved_on(d)});
    if (least >= found_.seconds || !fits(script)) return;
    ++found_.tapes;
    place(script);
  }

  /// Executes a plan for each way to place the loads among the steps. The order of a device's loads does not change.
  void place(const Script& script) {
    std::vector<std::size_t> needed, earliest;
    std::map<std::uint32_t, std::size_t> saved_by;
    before_.clear();
    std::map<std::uint32_t, std::size_t> last_of;  // device
    for (std::size_t i = 0; i < script.steps().size(); ++i) {
      for (const std::uint32_t t : script.steps()[i].loads) {
        needed.push_back(i);
        const auto& [bytes, save_s, load_s, copy, device] = script.tensors()[t];
        const auto [last, first] = last_of.try_emplace(device, no_load);
        before_.push_back(std::exchange(last->second, before_.size()));
        earliest.push_back(copy == no_tensor ? 0 : saved_by.at(copy) + 1);
      }
      for (const std::uint32_t t : script.steps()[i].saves) saved_by[t] = i;
    }
    // With unlimited memory, no place is better than an earlier place.
    std::vector<std::size_t> places = earliest;
    follow(places);
    if (seconds(script, without_limit(), places) >= found_.seconds) return;
    place(script, needed, earliest, places, 0);
  }

  /// Lets no load come before the previous load of its device.
  void follow(std::vector<std::size_t>& places) const {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (before_[i] != no_load) places[i] = std::max(places[i], places[before_[i]]);
  }

  std::vector<std::int64_t> without_limit() const {
    return std::vector<std::int64_t>(on_.size(), unlimited);
  }

  double seconds(const Script& script, const std::vector<std::int64_t>& budgets,
                 const std::vector<std::size_t>& places) const {
    const OracleResult result = oracle(Listing(script, budgets, weights_s_).plan(places));
    return result.blocked ? std::numeric_limits<double>::infinity() : result.makespan;
  }

  /// Tries all places of the loads from `load` on. In `places`, the loads before it have their places, and the others have
  /// the earliest places that are then possible.
  void place(const Script& script, const std::vector<std::size_t>& needed,
             const std::vector<std::size_t>& earliest, const std::vector<std::size_t>& places,
             std::size_t load) {
    if (load == places.size()) {
      ++found_.executed;
      found_.seconds = std::min(found_.seconds, seconds(script, budgets_, places));
      return;
    }
    const std::size_t before = before_[load],
                      from = std::max(earliest[load], before != no_load ? places[before] : 0);
    for (std::size_t at = needed[load] + 1; at-- > from;) {
      std::vector<std::size_t> next = places;
      next[load] = at;
      follow(next);
      if (at > from && seconds(script, without_limit(), next) >= found_.seconds) continue;
      place(script, needed, earliest, next, load + 1);
    }
  }

  static constexpr std::size_t no_load = static_cast<std::size_t>(-1);

  const std::vector<Chain>& on_;
  const std::vector<std::int64_t>& budgets_;
  const std::vector<double>& weights_s_;
  bool overlap_;
  std::vector<std::size_t> before_;  ///< for each load of a script, the previous load of its device
  double weights_total_ = 0;
  std::vector<Ways> ways_;
  BruteForce found_;
};

}  // namespace

BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below) {
  return brute_force(std::vector<Chain>{chain}, {budget}, weights_s, overlap, below);
}

BruteForce brute_force(const std::vector<Chain>& on, const std::vector<std::int64_t>& budgets,
                       const std::vector<double>& weights_s, bool overlap, double below) {
  return Everything(on, budgets, weights_s, overlap, below).run();
}

}  // namespace sluice::test
