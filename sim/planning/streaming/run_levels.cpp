#include "planning/streaming/run_levels.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

namespace {

__extension__ using Wide = __int128;  // for products of two 64-bit numbers
constexpr std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

std::int64_t limited(Wide bytes) {
  return bytes > most_bytes ? most_bytes : static_cast<std::int64_t>(bytes);
}

/// Returns the most bytes that `count` consecutive transfers can have together. At most `own_count` of these transfers
/// belong to this run, with `own` bytes each. All others belong to neighbouring runs: `neighbours` gives the bytes of
/// each.
template <class Neighbours>
std::int64_t most_in_row(std::int64_t count, std::int64_t own, std::int64_t own_count,
                         Neighbours neighbours) {
  std::int64_t mine = std::min(count, own_count);
  Wide bytes = static_cast<Wide>(mine) * own;
  for (std::int64_t k = mine; k < count; ++k) bytes += neighbours.next();
  Wide most = bytes;
  for (; mine > 0; --mine) {
    bytes += neighbours.next() - own;
    most = std::max(most, bytes);
  }
  return limited(most);
}

}  // namespace

/// next() returns the bytes of the input of the next slot after a run, and then of the slots after that. For a slot
/// that loads no input, it returns 0.
class RunLevels::LaterInputs {
 public:
  LaterInputs(const RunLevels& levels, std::size_t run) : levels_(levels), run_(run) {}
  std::int64_t next() {
    if (left_ == 0) {
      ++run_;
      const std::size_t runs = levels_.runs_.size();
      if (run_ >= runs && levels_.streamed_.steps == 1) return 0;
      const GroupRun& here = levels_.runs_[run_ % runs];
      left_ = here.count;
      bytes_ = levels_.loads_input(here) ? levels_.streamed_.groups[here.group].bytes.input : 0;
    }
    --left_;
    return bytes_;
  }

 private:
  const RunLevels& levels_;
  std::size_t run_;
  std::int64_t left_ = 0, bytes_ = 0;
};

/// Goes back through the results that were saved before a run. The first call of next() returns the bytes of the last
/// of these results, and each further call returns the bytes of the result before.
class RunLevels::EarlierResults {
 public:
  EarlierResults(const RunLevels& levels, std::size_t run) : levels_(levels), run_(run) {}
  std::int64_t next() {
    if (left_ == 0) {
      if (run_ == nothing || levels_.saver_before_[run_] == nothing) {
        run_ = nothing;
        return 0;
      }
      run_ = levels_.saver_before_[run_];
      left_ = levels_.runs_[run_].count;
      bytes_ = levels_.saved_bytes(levels_.runs_[run_]);
    }
    --left_;
    return bytes_;
  }

 private:
  const RunLevels& levels_;
  std::size_t run_;
  std::int64_t left_ = 0, bytes_ = 0;
};

RunLevels::RunLevels(const StreamedCase& streamed, const StreamedChoice& choice,
                     const std::vector<GroupRun>& runs, std::vector<std::int64_t> constant,
                     bool goes_on)
    : streamed_(streamed),
      choice_(choice),
      runs_(runs),
      constant_(std::move(constant)),
      goes_on_(goes_on) {
  for (std::size_t g = 0; g < streamed.groups.size(); ++g) saving_groups_ += saves(runs[g]) ? 1 : 0;
  saver_before_.assign(runs.size(), nothing);
  // The last run so far that saves results. It may be a run of the previous step.
  std::size_t saver = nothing;
  for (std::size_t r = 0; r < runs.size() && streamed.steps > 1; ++r)
    if (saves(runs[r])) saver = r;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    saver_before_[r] = saver;
    if (saves(runs[r])) saver = r;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (like_the_pass_before(runs[r]))
      memories_.push_back(memories_[r - streamed.groups.size()]);
    else
      memories_.push_back(choice.spares ? memory_of_run(r, 0, 0)
                                        : memory_of_run(r, most_inputs(), most_results(runs[r])));
    least_ = std::max(least_, peak(r, memories_.back()));
  }
  most_ = least_;
}

std::int64_t RunLevels::more_for(std::int64_t inputs, std::int64_t results) const {
  std::int64_t most = least_;
  for (std::size_t r = 0; r < runs_.size(); ++r)
    most = std::max(most, peak(r, memory_of_run(r, std::min(inputs, most_inputs()),
                                                std::min(results, most_results(runs_[r])))));
  return most - least_;
}

/// Returns how many results of other slots may at most be in transfer during a run. One buffer less is left for them if
/// the run saves its own results.
std::int64_t RunLevels::most_results(const GroupRun& run) const {
  if (!streamed_.overlap || choice_.buffers == 1) return 0;
  return saves(run) ? choice_.buffers - 1 : choice_.buffers;
}

RunLevels::RunMemory RunLevels::memory_of_run(std::size_t r, std::int64_t inputs,
                                              std::int64_t results) const {
  const GroupRun& run = runs_[r];
  const StageBytes& bytes = streamed_.groups[run.group].bytes;
  RunMemory memory;
  memory.inputs = inputs;
  memory.results = results;
  memory.result_bytes = most_in_row(results, saves(run) ? saved_bytes(run) : 0,
                                    saves(run) ? run.count - 1 : 0, EarlierResults(*this, r));
  Wide all = constant_[run.group] + static_cast<Wide>(run.count) * bytes.around;
  const std::int64_t own = loads_input(run) ? bytes.input : 0;
  LaterInputs later(*this, r);
  if (choice_.inputs_cross)
    all += memory.result_bytes + most_in_row(inputs, own, run.count - 1, later);
  else  // the first input of the next run gets the room that the results had
    all += std::max(memory.result_bytes, later.next()) +
           static_cast<Wide>(std::min(inputs, run.count - 1)) * own;
  if (loads_input(run))
    all += bytes.input;
  else
    memory.in = bytes.input;
  if (is_last(run) || choice_.offloads(run.group))
    all += bytes.output;
  else
    memory.out = bytes.output;
  all += bytes.answer;
  memory.bytes = limited(all);
  return memory;
}

std::int64_t RunLevels::level(const RunMemory& memory, std::int64_t count, std::int64_t m) const {
  return limited(static_cast<Wide>(memory.bytes) + static_cast<Wide>(count - m) * memory.in +
                 static_cast<Wide>(m + 1) * memory.out);
}

std::int64_t RunLevels::at(std::size_t run, std::int64_t m) const {
  return level(memories_[run], runs_[run].count, m);
}

std::int64_t RunLevels::least_at(std::size_t run, std::int64_t m) const {
  return choice_.spares ? level(memory_of_run(run, 0, 0), runs_[run].count, m) : at(run, m);
}

/// From each slot of a run to the next, the bytes change by the same number. So the first or the last slot has the most
/// bytes.
std::int64_t RunLevels::peak(std::size_t run, const RunMemory& memory) const {
  const std::int64_t count = runs_[run].count;
  return std::max(level(memory, count, 0), level(memory, count, count - 1));
}

/// Returns for a run how many results and inputs of other slots fit on the device, which then holds at most `bytes`
/// bytes. Starting from none, the function adds one result, one input, one result and so on while they fit.
RunLevels::RunMemory RunLevels::roomiest(std::size_t run, std::int64_t bytes) const {
  const std::int64_t inputs = most_inputs(), results = most_results(runs_[run]);
  const RunMemory all = memory_of_run(run, inputs, results);
  if (peak(run, all) <= bytes) return all;
  RunMemory best = memory_of_run(run, 0, 0);
  for (bool more = true; more;) {
    more = false;
    for (const bool result : {true, false}) {
      if (result ? best.results == results : best.inputs == inputs) continue;
      const RunMemory next =
          memory_of_run(run, best.inputs + (result ? 0 : 1), best.results + (result ? 1 : 0));
      if (peak(run, next) > bytes) continue;
      best = next;
      more = true;
    }
  }
  return best;
}

/// Returns whether this run certainly needs as much memory as the same group's run in the previous pass. This holds if
/// four things have equally many micro-batches: the two passes, and the passes to which the inputs and the results in
/// the buffers belong. The inputs in buffers belong to the next slots, and the results to the last slots that saved
/// results. All these slots are at most `reach` passes away.
bool RunLevels::like_the_pass_before(const GroupRun& run) const {
  const auto groups = static_cast<std::int64_t>(streamed_.groups.size());
  // In a long step, the first pass may be short, but then the others are not.
  const std::int64_t count = std::max(runs_.front().count, runs_.back().count);
  const std::int64_t reach =
      choice_.buffers / (std::clamp<std::int64_t>(saving_groups_, 1, groups) * count) + 1;
  return run.pass - 1 > reach && (goes_on_ || run.pass + reach < runs_.back().pass);
}

void RunLevels::set_room(std::int64_t bytes) {
  most_ = 0;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    if (like_the_pass_before(runs_[r]))
      memories_[r] = memories_[r - streamed_.groups.size()];
    else
      memories_[r] = roomiest(r, bytes);
    most_ = std::max(most_, peak(r, memories_[r]));
  }
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const bool same = r > 0 && like_the_pass_before(runs_[r]) && like_the_pass_before(runs_[r - 1]);
    memories_[r].waits = same ? memories_[r - streamed_.groups.size()].waits : must_wait(r);
  }
}

/// Returns whether run r, when it begins, has too little room for the results that are in transfer. The last results of
/// the previous run may be among them, because run r begins as soon as the previous run ends.
bool RunLevels::must_wait(std::size_t r) const {
  if (r == 0 && streamed_.steps == 1) return false;
  const std::size_t before = (r + runs_.size() - 1) % runs_.size();
  EarlierResults earlier(*this, r);
  Wide there = 0;
  for (std::int64_t k = memories_[before].results + (saves(runs_[before]) ? 1 : 0); k > 0; --k)
    there += earlier.next();
  const StageBytes& own = streamed_.groups[runs_[r].group].bytes;
  return there >
         static_cast<Wide>(memories_[r].result_bytes) + own.output + own.answer + own.workspace;
}

}  // namespace sluice
