#include "fates/optimal/milp.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/gap.hpp"
#include "base/interrupt.hpp"
#include "base/milp.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t nobody = static_cast<std::uint32_t>(-1);
using Row = std::vector<std::uint32_t>;  ///< variables; `nobody` means that there is no variable

/// The integer programme that chooses between keep, recompute and offload in one graph of operations (milp.hpp). In
/// the Checkmate paper, the variables `runs_` have the name R, `there_` the name S, and those of free_after() the name
/// FREE.
class Programme {
 public:
  Programme(const FateGraph& graph, std::int64_t budget, double time_limit_s)
      : graph_(graph),
        stages_(graph.operations.size()),
        budget_(static_cast<double>(budget)),
        makers_(graph.tensors.size(), nobody),
        users_(graph.tensors.size()),
        optional_(graph.tensors.size(), 0),
        last_run_(graph.operations.size(), 0),
        last_use_(graph.tensors.size(), 0) {
    read_graph();
    for (const ChainTensor& tensor : graph.tensors)
      unit_ = std::max(unit_, static_cast<double>(tensor.bytes));
    add_variables();
    const auto begin = std::chrono::steady_clock::now();
    left_s_ = time_limit_s;
    for (std::size_t t = 0; t < stages_ && left_s_ > 0; ++t) {
      check_interrupt();
      constrain_presence(t);
      constrain_memory(t);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      left_s_ = time_limit_s - spent.count();
    }
  }

  MilpSolution solve(double at_most) const {
    return left_s_ > 0 ? milp_.solve({.seconds = left_s_}, at_most) : MilpSolution{};
  }

  std::vector<GraphStep> steps(const std::vector<double>& values) const {
    const auto is = [&values](std::uint32_t variable) {
      return variable != nobody && values[variable] > 0.5;
    };
    std::vector<GraphStep> steps;
    std::vector<char> saved(graph_.tensors.size(), 0);
    for (std::size_t t = 0; t < stages_; ++t) {
      for (std::uint32_t i = 0; i < graph_.tensors.size(); ++i)
        if (makers_[i] == nobody && is(loads_[t][i])) steps.push_back({GraphStep::Kind::load, i});
      for (std::uint32_t v = 0; v <= t; ++v) {
        for (std::uint32_t i = 0; i < graph_.tensors.size(); ++i)
          if (makers_[i] == v && is(loads_[t][i])) steps.push_back({GraphStep::Kind::load, i});
        if (!is(runs_[t][v])) continue;
        steps.push_back({GraphStep::Kind::run, v, is(fully_[t][v])});
        for (const auto* made : {&graph_.operations[v].makes, &graph_.operations[v].may_make})
          for (const std::uint32_t i : *made)
            if (is(saves_[i]) && is(made_in(t, i)) && !std::exchange(saved[i], 1))
              steps.push_back({GraphStep::Kind::save, i});
      }
    }
    return steps;
  }

 private:
  double bytes(std::size_t tensor) const {
    return static_cast<double>(graph_.tensors[tensor].bytes);
  }

  void read_graph() {
    for (std::uint32_t v = 0; v < stages_; ++v) {
      const FateGraph::Operation& operation = graph_.operations[v];
      for (const std::uint32_t i : operation.reads) {
        if (makers_.at(i) == nobody && !graph_.copies.at(i))
          throw InternalError("operation " + std::to_string(v) + " reads tensor " +
                              std::to_string(i) + ", which no earlier operation makes");
        users_[i].push_back(v);
      }
      for (const std::uint32_t i : operation.makes) makers_.at(i) = v;
      for (const std::uint32_t i : operation.may_make) makers_.at(i) = v, optional_[i] = 1;
    }
    // Goes through the operations in reverse order. For each operation, finds the last stage in which running it can be
    // useful. For each tensor, finds the last stage in which it can be useful to have the tensor on the device. Stages
    // are those of time (milp.hpp).
    for (std::uint32_t v = static_cast<std::uint32_t>(stages_); v-- > 0;) {
      const FateGraph::Operation& operation = graph_.operations[v];
      std::uint32_t last = v;
      if (operation.repeats)
        for (const auto* made : {&operation.makes, &operation.may_make})
          for (const std::uint32_t i : *made) last = std::max(last, last_use_[i]);
      last_run_[v] = last;
      for (const std::uint32_t i : operation.reads) last_use_[i] = std::max(last_use_[i], last);
    }
  }

  void add_variables() {
    const std::size_t count = graph_.tensors.size();
    for (std::size_t i = 0; i < count; ++i) {
      const bool from_host = makers_[i] == nobody;
      saves_.push_back(graph_.copies[i] && !from_host ? milp_.real(0, 1, graph_.tensors[i].save_s)
                                                      : nobody);
    }
    for (std::size_t t = 0; t < stages_; ++t) {
      Row runs(stages_, nobody), fully(stages_, nobody), there(count, nobody), loads(count, nobody);
      for (std::size_t v = 0; v <= t; ++v) {
        const FateGraph::Operation& operation = graph_.operations[v];
        if (v < t && (t > last_run_[v] || t < graph_.repeats_from)) continue;
        runs[v] = milp_.whole(v == t ? 1 : 0, 1, operation.seconds);
        if (!operation.may_make.empty()) fully[v] = milp_.whole(0, 1);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const bool from_host = makers_[i] == nobody;
        const bool useful = !users_[i].empty() && t <= last_use_[i];
        if (!useful || (!from_host && t < makers_[i])) continue;
        if (from_host ? t > 0 : t > makers_[i]) there[i] = milp_.whole(0, 1);
        if (graph_.copies[i] && (from_host || t > makers_[i]))
          loads[i] = milp_.real(0, 1, graph_.tensors[i].load_s);
      }
      runs_.push_back(runs), fully_.push_back(fully), there_.push_back(there);
      loads_.push_back(loads);
    }
  }

  static void add(Milp::Terms& terms, std::uint32_t variable, double factor) {
    if (variable != nobody) terms.push_back({variable, factor});
  }

  /// Returns the variable that says whether tensor i is made in stage t.
  std::uint32_t made_in(std::size_t t, std::size_t i) const {
    if (makers_[i] == nobody || makers_[i] > t) return nobody;
    return (optional_[i] ? fully_ : runs_)[t][makers_[i]];
  }

  /// Stage t can have a tensor in three ways: the tensor is on the device at the start of the stage, or the stage makes
  /// the tensor or loads it. Returns the sum of the three variables for these ways.
  Milp::Terms sources(std::size_t t, std::size_t i, double factor) const {
    Milp::Terms terms;
    add(terms, there_[t][i], factor);
    add(terms, made_in(t, i), factor);
    add(terms, loads_[t][i], factor);
    return terms;
  }

  void constrain_presence(std::size_t t) {
    for (std::size_t v = 0; v <= t; ++v) {
      if (runs_[t][v] == nobody) continue;
      for (const std::uint32_t i : graph_.operations[v].reads) {
        Milp::Terms terms = sources(t, i, 1);
        add(terms, runs_[t][v], -1);
        milp_.constrain(0, terms, Milp::infinity);
      }
      if (fully_[t][v] != nobody)
        milp_.constrain(0, {{runs_[t][v], 1}, {fully_[t][v], -1}}, Milp::infinity);
    }
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const Milp::Terms once = sources(t, i, 1);
      if (once.size() > 1) milp_.constrain(0, once, 1);
      if (t + 1 < stages_ && there_[t + 1][i] != nobody) {
        Milp::Terms terms = sources(t, i, 1);
        terms.push_back({there_[t + 1][i], -1});
        milp_.constrain(0, terms, Milp::infinity);
      }
      if (loads_[t][i] != nobody && saves_[i] != nobody) constrain_load(t, i);
    }
  }

  /// Adds the constraints for the load of tensor i in stage t. Here, a stage is a part of the time (milp.hpp). The
  /// tensor is loaded only if it is saved, and if an operation made it in an earlier stage.
  void constrain_load(std::size_t t, std::size_t i) {
    milp_.constrain(0, {{saves_[i], 1}, {loads_[t][i], -1}}, Milp::infinity);
    // If the operation always makes the tensor, the constraint below is not needed.
    if (!optional_[i]) return;
    Milp::Terms made = {{loads_[t][i], -1}};
    for (std::size_t earlier = makers_[i]; earlier < t; ++earlier)
      add(made, made_in(earlier, i), 1);
    milp_.constrain(0, made, Milp::infinity);
  }

  /// Adds the constraints that the bytes on the device stay within the budget during each operation of stage t.
  void constrain_memory(std::size_t t) {
    Milp::Terms live;  // the bytes that are on the device before the current operation
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      add(live, there_[t][i], bytes(i) / unit_);
      if (makers_[i] == nobody) add(live, loads_[t][i], bytes(i) / unit_);
    }
    for (std::size_t v = 0; v <= t; ++v) {
      const FateGraph::Operation& operation = graph_.operations[v];
      for (const auto* made : {&operation.makes, &operation.may_make})
        for (const std::uint32_t i : *made) {
          add(live, made_in(t, i), bytes(i) / unit_);
          add(live, loads_[t][i], bytes(i) / unit_);
        }
      if (runs_[t][v] == nobody) continue;
      Milp::Terms now = live;
      const auto workspace = static_cast<double>(operation.workspace);
      add(now, runs_[t][v], workspace / unit_);
      add(now, fully_[t][v], (static_cast<double>(operation.workspace_making) - workspace) / unit_);
      milp_.constrain(-Milp::infinity, now, budget_ / unit_);
      free_after(t, v, live);
    }
  }

  /// Adds constraints for the tensors that operation v makes or reads. Such a tensor can be freed after v if three
  /// conditions hold. Operation v runs. No later operation of the stage reads the tensor. The next stage does not start
  /// with the tensor on the device.
  void free_after(std::size_t t, std::size_t v, Milp::Terms& live) {
    const FateGraph::Operation& operation = graph_.operations[v];
    for (const auto* touched : {&operation.makes, &operation.may_make, &operation.reads})
      for (const std::uint32_t i : *touched) {
        if (bytes(i) == 0) continue;
        const bool reads = touched == &operation.reads;
        const std::uint32_t frees = milp_.real(0, 1);
        milp_.constrain(0, {{reads ? runs_[t][v] : made_in(t, i), 1}, {frees, -1}}, Milp::infinity);
        if (t + 1 < stages_ && there_[t + 1][i] != nobody)
          milp_.constrain(0, {{there_[t + 1][i], 1}, {frees, 1}}, 1);
        for (const std::uint32_t later : users_[i])
          if (later > v && later <= t && runs_[t][later] != nobody)
            milp_.constrain(0, {{runs_[t][later], 1}, {frees, 1}}, 1);
        add(live, frees, -bytes(i) / unit_);
      }
  }

  const FateGraph& graph_;
  std::size_t stages_;
  double budget_, unit_ = 1;
  double left_s_ = 0;                              ///< the part of the time limit that is left
  Row makers_;                                     ///< indexed by tensor
  std::vector<std::vector<std::uint32_t>> users_;  ///< indexed by tensor
  std::vector<char> optional_;                     ///< indexed by tensor
  /// `last_run_` has for each operation the last stage in which running it is useful. `last_use_`
  /// has for each tensor the last stage in which an operation that reads the tensor may run.
  Row last_run_, last_use_;
  std::vector<Row> runs_, fully_, there_, loads_;  ///< indexed by stage
  Row saves_;                                      ///< indexed by tensor
  Milp milp_;
};

}  // namespace

GraphAnswer solve(const FateGraph& graph, std::int64_t budget, double time_limit_s,
                  double at_most) {
  const Programme programme(graph, budget, time_limit_s);
  const MilpSolution solution = programme.solve(at_most);
  GraphAnswer answer{solution.feasible, solution.proven, {}, solution.objective, solution.bound};
  if (solution.feasible) answer.steps = programme.steps(solution.values);
  return answer;
}

FateGraph graph_of(const Chain& chain) {
  const auto n = static_cast<std::uint32_t>(chain.stages.size());
  FateGraph graph;
  const auto inner = [n](std::uint32_t s) { return n + 1 + s; };
  const auto gradient = [n](std::uint32_t b) { return 2 * n + b; };  // for boundaries 1 … n - 1
  for (std::uint32_t b = 0; b <= n; ++b) graph.tensors.push_back(chain.boundary(b));
  for (const ChainStage& stage : chain.stages) graph.tensors.push_back(stage.inner);
  for (const ChainTensor& tensor : graph.tensors) graph.copies.push_back(tensor.bytes > 0);
  graph.copies.front() = 1;  // the input is loaded even if it has 0 bytes
  for (std::uint32_t s = 0; s + 1 < n; ++s) graph.tensors.push_back({chain.stages[s].gradient});
  graph.copies.resize(graph.tensors.size(), 0);
  for (std::uint32_t s = 0; s < n; ++s) {
    const ChainStage& stage = chain.stages[s];
    FateGraph::Operation forward{stage.forward_s};
    chain.each_read(
        s, [&](std::size_t b, bool) { forward.reads.push_back(static_cast<std::uint32_t>(b)); });
    forward.makes = {s + 1};
    forward.may_make = {inner(s)};
    forward.workspace = stage.passing_workspace();
    forward.workspace_making = stage.keeping_workspace();
    graph.operations.push_back(std::move(forward));
  }
  // For each boundary, whether its gradient is made by an operation that was added before.
  std::vector<char> started(n + 1, 0);
  for (std::uint32_t s = n; s-- > 0;) {
    const ChainStage& stage = chain.stages[s];
    FateGraph::Operation backward{stage.backward_s, {inner(s)}};
    if (stage.reads_output) backward.reads.push_back(s + 1);
    if (s + 1 < n) backward.reads.push_back(gradient(s + 1));
    chain.each_read(s, [&](std::size_t number, bool read) {
      const auto b = static_cast<std::uint32_t>(number);
      if (read) backward.reads.push_back(b);
      if (b == 0) return;
      (std::exchange(started[b], 1) ? backward.reads : backward.makes).push_back(gradient(b));
    });
    backward.workspace = stage.backward_workspace;
    backward.repeats = false;
    graph.operations.push_back(backward);
  }
  graph.repeats_from = n;
  return graph;
}

namespace {

Tape tape_of(const std::vector<GraphStep>& steps, std::uint32_t n) {
  Tape tape;
  for (const GraphStep& step : steps) {
    if (step.kind == GraphStep::Kind::run) {
      const bool forward = step.number < n;
      tape.push_back({forward ? TapeOp::Kind::forward : TapeOp::Kind::backward,
                      forward ? step.number : 2 * n - 1 - step.number, forward && step.makes_all});
      continue;
    }
    const bool inner = step.number > n;
    tape.push_back({step.kind == GraphStep::Kind::save ? TapeOp::Kind::save : TapeOp::Kind::load,
                    inner ? step.number - n - 1 : step.number, inner});
  }
  return tape;
}

}  // namespace

MilpAnswer solve_milp(const Chain& chain, std::int64_t budget, double time_limit_s,
                      const Tape& known) {
  MilpAnswer answer;
  const double at_most = known.empty() ? Milp::infinity : serial_seconds(chain, known);
  const GraphAnswer found = solve(graph_of(chain), budget, time_limit_s, at_most);
  answer.proven = found.proven;
  answer.feasible = found.feasible || !known.empty();
  answer.bound = found.bound;
  if (!answer.feasible) return answer;
  answer.tape = found.feasible
                    ? tape_of(found.steps, static_cast<std::uint32_t>(chain.stages.size()))
                    : known;
  answer.seconds = serial_seconds(chain, answer.tape);
  answer.bound = std::clamp(answer.bound, 0.0, answer.seconds);
  answer.gap = gap_of(answer.seconds, answer.bound);
  return answer;
}

}  // namespace sluice
