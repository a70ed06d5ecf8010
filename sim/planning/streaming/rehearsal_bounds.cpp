// Lower bounds of the seconds that a rehearsal computes (rehearsal.hpp). groups.hpp explains runs of groups, and
// passes.
#include <algorithm>

#include "base/never.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {

namespace {

/// Returns whether the inputs of this run are loaded by the copy engine that loads the weights. If the platform is a
/// shown machine, another engine of the real machine may load the inputs of the model.
bool loads_down(const Rehearsal& rehearsal, const GroupRun& run) {
  return rehearsal.loads_input(run) && rehearsal.input_copy(run).engine == RealCopies::down_engine;
}

/// A lower bound of the time at which some loads have arrived: the loads of the inputs that inputs() counts, and of the
/// weights that add_weights() has added. If the platform is a shown machine, the bound is for the real machine. There,
/// weights come from host memory into the second memory, one after the other, and share links with inputs. Only then
/// are they loaded from the second memory.
class FirstLoads {
 public:
  explicit FirstLoads(const Rehearsal& rehearsal)
      : rehearsal_(rehearsal),
        real_(rehearsal.streamed().real),
        input_bytes_(rehearsal.streamed().groups.front().bytes.input) {
    const Rehearsal::Copy input = rehearsal.input_copy(rehearsal.runs().front());
    input_there_ = input.seconds + input.latency_s;
    down_s_ = loads_down(rehearsal, rehearsal.runs().front()) ? input_there_
                                                              : rehearsal.streamed().down.latency_s;
    inputs(1);
  }

  /// Makes the bound count the first `count` inputs of the model.
  void inputs(std::int64_t count) { inputs_ = count; }

  void add_weights(std::size_t group) {
    const CopyTime& down = rehearsal_.streamed().down;
    for (const std::int64_t bytes : rehearsal_.pieces(group)) {
      down_s_ += down.seconds(bytes);
      if (!real_) continue;
      begun_bytes_ += bytes;
      begins_s_ += real_->begins.seconds(bytes);
      shortest_begin_s_ = std::min(shortest_begin_s_, real_->begins.seconds(bytes));
      shortest_load_s_ = std::min(shortest_load_s_, down.seconds(bytes));
    }
  }

  double at_least() const {
    if (!real_) return down_s_;
    double least = input_there_;
    if (begun_bytes_ > 0) {
      const double begins_latency_s = real_->begins.latency_s;
      least = std::max(
          {least, shortest_begin_s_ + begins_latency_s + down_s_,
           begins_s_ + begins_latency_s + shortest_load_s_ + rehearsal_.streamed().down.latency_s});
    }
    return std::max(least, static_cast<double>(begun_bytes_ + inputs_ * input_bytes_) *
                               real_->shared_s_per_byte);
  }

 private:
  const Rehearsal& rehearsal_;
  const std::optional<RealCopies>& real_;
  std::int64_t input_bytes_, inputs_ = 0, begun_bytes_ = 0;
  /// `input_there_` is the time at which the first input has arrived. `down_s_` is the time at which the added weights
  /// have arrived, if the copy engine that loads them never pauses. If this engine also loads the first input, the
  /// seconds of this load are included.
  double input_there_ = 0, down_s_ = 0;
  double begins_s_ = 0;
  double shortest_begin_s_ = never, shortest_load_s_ = never;
};

/// Seconds of a step's transfers.
struct WorkOfStep {
  double first_s = 0, last_s = 0;  ///< transfers before the first slot, and after the last slot
  double inputs_s = 0, weights_s = 0;
  double kept_s = 0;  ///< the seconds of the loads before the first step
};

WorkOfStep work_of(const Rehearsal& rehearsal) {
  const StreamedCase& streamed = rehearsal.streamed();
  WorkOfStep work;
  for (const GroupRun& run : rehearsal.runs()) {
    if (loads_down(rehearsal, run))
      work.inputs_s += static_cast<double>(run.count) * rehearsal.input_seconds(run);
    const std::vector<std::int64_t>& pieces = rehearsal.pieces(run.group);
    for (std::size_t piece = rehearsal.first_piece(run); piece < pieces.size(); ++piece)
      work.weights_s += streamed.down.seconds(pieces[piece]);
    for (std::size_t piece = 0; run.pass == 0 && piece < rehearsal.first_piece(run); ++piece)
      work.kept_s += streamed.down.seconds(pieces[piece]);
  }
  FirstLoads first(rehearsal);
  first.add_weights(0);
  work.first_s = first.at_least();
  const GroupRun& last = rehearsal.runs().back();
  const Rehearsal::Copy save = rehearsal.save_copy(last);
  if (rehearsal.saves(last)) work.last_s = save.seconds + save.latency_s;
  return work;
}

/// Returns a lower bound of the seconds from the start of a run's first slot to the start of its last slot. In this
/// time, the device computes all slots except the last. The copy engines load all inputs, except those that are already
/// in buffers at the start. They save all results, except those that are still in buffers at the end.
double until_last_slot(const Rehearsal& rehearsal, std::size_t r) {
  const GroupRun& run = rehearsal.runs()[r];
  const auto beyond = [&](std::int64_t others) {
    return static_cast<double>(std::max<std::int64_t>(0, run.count - 1 - others));
  };
  return std::max({beyond(0) * rehearsal.streamed().groups[run.group].compute_s,
                   beyond(rehearsal.levels().inputs(r)) * rehearsal.input_seconds(run),
                   beyond(rehearsal.levels().results(r)) * rehearsal.save_seconds(run)});
}

/// Returns a lower bound of the seconds of run r, from the start of its first slot to the end of its last slot.
double of_run(const Rehearsal& rehearsal, std::size_t r) {
  return until_last_slot(rehearsal, r) +
         rehearsal.streamed().groups[rehearsal.runs()[r].group].compute_s;
}

/// Returns a lower bound of the seconds that the runs of a step take in addition to the sum of their of_run(). This
/// bound comes from consecutive runs that save results: before the last slot of these runs starts, all their results
/// except those in buffers must have been saved.
double waits_for_saves(const Rehearsal& rehearsal) {
  const std::vector<GroupRun>& runs = rehearsal.runs();
  double waits = 0;
  for (std::size_t first = 0, end = 0; first < runs.size(); first = std::max(end, first + 1)) {
    std::int64_t results = -1;  // -1, because the last slot's result does not count
    double computed = 0;
    const std::size_t engine = rehearsal.save_copy(runs[first]).engine;
    for (end = first; end < runs.size() && rehearsal.saves(runs[end]) &&
                      rehearsal.save_copy(runs[end]).engine == engine;
         ++end) {
      results += runs[end].count;
      computed += of_run(rehearsal, end);
    }
    if (end < first + 2) continue;
    const auto compute_s = [&](std::size_t r) {
      return rehearsal.streamed().groups[runs[r].group].compute_s;
    };
    std::int64_t left = results - rehearsal.levels().results(end - 1);
    double saved = compute_s(first) + compute_s(end - 1);
    for (std::size_t r = first; r < end && left > 0; left -= runs[r++].count)
      saved += static_cast<double>(std::min(left, runs[r].count)) * rehearsal.save_seconds(runs[r]);
    waits += std::max(0.0, saved - computed);
  }
  return waits;
}

/// Returns the lower bound of the makespan that follows from the last pass: in each run of this pass, the last slot
/// starts after all loads for this run and for earlier runs. `loads_s` are the seconds of the loads in all steps.
double ending(const Rehearsal& rehearsal, double loads_s) {
  const std::vector<GroupRun>& runs = rehearsal.runs();
  double later_loads = 0, later_runs = 0, least = 0;
  for (std::size_t r = runs.size(); r-- > 0 && runs[r].pass == runs.back().pass;) {
    const bool input = loads_down(rehearsal, runs[r]);
    const double last = rehearsal.streamed().groups[runs[r].group].compute_s;
    const double tail = (input ? last : of_run(rehearsal, r)) + later_runs;
    double loads =
        static_cast<double>(input ? runs[r].count : 0) * rehearsal.input_seconds(runs[r]);
    const std::vector<std::int64_t>& pieces = rehearsal.pieces(runs[r].group);
    for (std::size_t piece = rehearsal.first_piece(runs[r]); piece < pieces.size(); ++piece)
      loads += rehearsal.streamed().down.seconds(pieces[piece]);
    if (loads > 0)
      least = std::max(least, loads_s - later_loads + rehearsal.streamed().down.latency_s + tail);
    later_loads += loads;
    later_runs += of_run(rehearsal, r);
  }
  return least;
}

/// Returns the lower bound of the makespan that follows from the first pass. A group starts only when the loads for it
/// and for all earlier groups have arrived. So the makespan is at least the seconds of these loads plus the seconds of
/// this group and everything after it. `in_runs` are the seconds of all runs of groups.
double beginning(const Rehearsal& rehearsal, double in_runs) {
  const StreamedCase& streamed = rehearsal.streamed();
  FirstLoads loads(rehearsal);
  double before = 0, least = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) {
    loads.add_weights(g);
    least = std::max(least, loads.at_least() + in_runs - before);
    before += until_last_slot(rehearsal, g) + streamed.groups[g].compute_s;
    loads.inputs(rehearsal.runs().front().count);
  }
  return least;
}

/// Returns the lower bound that follows from the copies of inputs and answers on the real machine, if the platform is a
/// shown machine. All groups compute the last micro-batch after the last input has arrived. All answers are saved after
/// the first answer has been computed.
double inputs_and_answers(const Rehearsal& rehearsal) {
  const StreamedCase& streamed = rehearsal.streamed();
  const std::vector<GroupRun>& runs = rehearsal.runs();
  FirstLoads loads(rehearsal);
  double inputs_s = 0, answers_s = 0, first_answer_s = never, last_pass_s = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const GroupRun& run = runs[r];
    const double compute_s = streamed.groups[run.group].compute_s;
    const auto slots = static_cast<double>(run.count);
    if (run.group == 0) inputs_s += slots * rehearsal.input_seconds(run);
    if (rehearsal.saves_answers(run)) answers_s += slots * rehearsal.save_seconds(run);
    if (run.pass == runs.back().pass) last_pass_s += run.group == 0 ? compute_s : slots * compute_s;
    if (run.pass > 0) continue;
    loads.add_weights(run.group);
    if (rehearsal.saves_answers(run))
      first_answer_s = std::min(first_answer_s, loads.at_least() + compute_s);
    loads.inputs(run.count);
  }
  const auto steps = static_cast<double>(streamed.steps);
  const double to_inputs = steps * inputs_s + streamed.real->inputs.latency_s + last_pass_s;
  if (answers_s == 0) return to_inputs;
  return std::max(to_inputs, first_answer_s + steps * answers_s + streamed.real->answers.latency_s);
}

/// At the start of slot `m` of a run, the device still needs `later` bytes of weights for later runs. It has no room
/// for all of them within `bytes()` bytes. Returns the seconds in which the link loads the bytes that have no room.
double held_back(const Rehearsal& rehearsal, std::size_t r, std::int64_t m, std::int64_t later) {
  const double missing =
      static_cast<double>(later) - static_cast<double>(rehearsal.bytes() - rehearsal.level(r, m));
  return std::max(0.0, missing) / rehearsal.streamed().down.bandwidth;
}

/// Returns a lower bound of the seconds between the end of this run and the start of the next run. During the last slot
/// of this run, there is no room for some weights of the next run. They are loaded after this slot, and the next run
/// waits for their arrival.
double wait_for_weights(const Rehearsal& rehearsal, std::size_t r, std::int64_t next_weights) {
  const GroupRun& run = rehearsal.runs()[r];
  const std::int64_t room = rehearsal.bytes() - rehearsal.levels().least_at(r, run.count - 1);
  if (next_weights <= room) return 0;
  const CopyTime& down = rehearsal.streamed().down;
  return static_cast<double>(next_weights - room) / down.bandwidth + down.latency_s;
}

/// Returns a lower bound of the arrival of the first input of run r, or 0 if none is known. Inputs occupy buffers while
/// they are loaded, so the load begins at most `buffers` slots before the run. `starts` gives lower bounds of the
/// starts of the earlier runs of the step. If r is the number of runs, the input is for the next step.
double input_arrival(const Rehearsal& rehearsal, std::size_t r, const std::vector<double>& starts) {
  const std::vector<GroupRun>& runs = rehearsal.runs();
  const GroupRun& run = runs[r % runs.size()];
  if (!rehearsal.loads_input(run)) return 0;
  const Rehearsal::Copy input = rehearsal.input_copy(run);
  std::int64_t later = rehearsal.choice().buffers;
  for (std::size_t before = r; before-- > 0; later -= runs[before].count)
    if (runs[before].count > later)
      return starts[before] + input.seconds + input.latency_s +
             static_cast<double>(runs[before].count - later) *
                 rehearsal.streamed().groups[runs[before].group].compute_s;
  return 0;
}

}  // namespace

// The result is the greatest of these lower bounds:
// 1. The device makes the runs of all groups one after the other. So their seconds are added up.
// 2. The copy engine makes all loads. After these loads, the groups whose weights or inputs came last are computed.
// 3. Each group of the first pass waits for its own weights and the weights of all earlier groups. The computation of
//    this group and of all later runs follows.
// 4. When a slot of a step starts, the weights for which the device has no room yet must still be loaded.
// 5. The runs of all groups follow each other. Between two runs, the device loads the weights for which it had no room
//    during the first of the two runs. Also, each run that loads inputs waits for its first input. So does the first
//    run of the next step.
// 6. If the platform is a shown machine, inputs and answers may use other links on the real machine. There, all groups
//    compute the last micro-batch after all inputs have been loaded. All answers are saved after the first answer has
//    been computed.
double Rehearsal::at_least() const {
  if (!streamed_.overlap) return seconds({});
  const WorkOfStep work = work_of(*this);
  const auto steps = static_cast<double>(streamed_.steps);
  const GroupRun& last = runs_.back();
  const double last_c = streamed_.groups[last.group].compute_s;
  const double tail = loads_input(last) ? last_c : static_cast<double>(last.count) * last_c;
  double least =
      ending(*this, work.kept_s + steps * (work.weights_s + work.inputs_s)) + work.last_s;
  if (streamed_.real) least = std::max(least, inputs_and_answers(*this));
  double in_runs = 0;
  std::int64_t later = 0;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    in_runs += of_run(*this, r);
    later += turns_[runs_[r].group];
  }
  least = std::max(least, beginning(*this, steps * in_runs) + work.last_s);
  // Both count seconds from the start of the step's first slot: `in_step` is a lower bound of the step's seconds,
  // `start` a lower bound of the start of run r.
  double in_step = in_runs + waits_for_saves(*this), start = 0;
  std::vector<double> starts;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    start = std::max(start, input_arrival(*this, r, starts));
    starts.push_back(start);
    later -= turns_[runs_[r].group];
    const double last_slot = start + until_last_slot(*this, r);
    if (later > 0) {
      in_step = std::max(in_step, start + held_back(*this, r, 0, later) + tail);
      const double held_at_last = held_back(*this, r, runs_[r].count - 1, later);
      in_step = std::max(in_step, last_slot + held_at_last + tail);
    }
    start = last_slot + streamed_.groups[runs_[r].group].compute_s;
    if (r + 1 < runs_.size() && runs_[r + 1].group != runs_[r].group)
      start += wait_for_weights(*this, r, turns_[runs_[r + 1].group]);
  }
  in_step = std::max(in_step, start);
  const double to_next_step = std::max(in_step, input_arrival(*this, runs_.size(), starts));
  return std::max(least, work.first_s + (steps - 1) * to_next_step + in_step + work.last_s);
}

}  // namespace sluice
