// Finds the steady state of a replay, and skips whole periods of it. For this, the replay records its state at the
// start of iterations. When a state repeats, a period has passed.
#include <bit>
#include <cstdlib>

#include "execute/arithmetic/execution.hpp"
#include "execute/reach.hpp"

namespace sluice::arithmetic {

std::int64_t reach_of(const Plan& plan) {
  std::int64_t reach = 1;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    reach = std::max(reach, reach_of_action(plan.actions[a]));
  return reach;
}

bool may_repeat(const Plan& plan) {
  return plan.body_begin < plan.body_end && plan.iterations > few_iterations &&
         plan.iterations > 4 * reach_of(plan);
}

void Replay::look_for_period() {
  const std::int64_t iteration = streams_[leader_].cursor.iteration();
  if (!period_ || !period_->wants(iteration)) return;
  const bool repeats = emitter_ && !options_.until_period;
  if (repeats && period_->states() == 0) {
    emitter_->begin_record();
    marks_.clear();
  }
  if (repeats) marks_.push_back(emitter_->mark());
  const auto period = period_->add(snapshot(iteration));
  if (period) {
    result_.period = period;
    if (options_.until_period) {
      seen_enough_ = true;
      return;
    }
    jump(*period);
    period_.reset();
  }
  if (repeats && (!period_ || period_->states() == 0)) emitter_->end_record();
}

Snapshot Replay::snapshot(std::int64_t iteration) const {
  Snapshot state{iteration, now_, executed_, {}, {}};
  state.numbers.reserve(4 * plan_.actions.size());
  for (std::uint32_t s = 0; s < streams_.size(); ++s) write(state, s);
  arrivals_.write(state);
  residency_.write(state);
  grants_.write(state);
  return state;
}

/// Writes the state of a stream. If the stream is in the body, its state contains the time at which it became free. A
/// stream whose next action is in the epilogue may have been free during the whole body. The time since it became free
/// grows from state to state, so a state that contained this time could not repeat.
void Replay::write(Snapshot& state, std::uint32_t s) const {
  const StreamState& stream = streams_[s];
  if (stream.cursor.done()) return state.add(-1);
  state.add(static_cast<std::int64_t>(stream.state));
  state.add(stream.cursor.action());
  state.add(stream.awaited_action);
  if (stream.cursor.in_body()) {
    state.add_iteration(stream.cursor.iteration());
    if (stream.awaited_action != none) state.add_iteration(stream.awaited_iteration);
    state.add_time(stream.free_at);
  }
  if (stream.state != State::waiting) write_running(state, s);
}

/// Writes the state of a stream with a delayed or running action: the time of its next event, and its flows.
void Replay::write_running(Snapshot& state, std::uint32_t s) const {
  const StreamState& stream = streams_[s];
  state.add_time(stream.started_at);
  state.add_time(stream.cause.ready);
  state.add_row(stream.cause.row);
  const bool expects = stream.state == State::delayed || stream.own_left;
  state.add(expects);
  if (expects) state.add_time(stream.expected_at);
  if (stream.state != State::running) return;
  const auto shared = occupancy_.shared(stream.cursor.action());
  for (std::uint32_t f = first_flow_[s]; f < first_flow_[s] + shared.size(); ++f) {
    state.add(static_cast<std::int64_t>(flows_[f].is));
    if (flows_[f].is == FlowState::Is::idle) continue;
    // The remaining bytes of a flow follow from its end and its rate. So they are not written.
    state.add_time(flows_[f].expected_at);
    if (flows_[f].is == FlowState::Is::flowing)
      state.add(std::bit_cast<std::int64_t>(sharing_->flow(f).rate));
  }
}

/// Skips as many whole periods as possible. The last iterations may differ from the iterations of a period, so they are
/// not skipped.
void Replay::jump(const Jump& period) {
  std::int64_t farthest = 0;
  for (const StreamState& stream : streams_)
    if (stream.cursor.in_body()) farthest = std::max(farthest, stream.cursor.iteration() + 1);
  const std::int64_t left = std::min(plan_.iterations - farthest - 2 * reach_of(plan_) - 3,
                                     grants_.most_iterations() - period.iterations);
  const std::int64_t times = left / period.iterations;
  if (times < 1) return;
  if (emitter_)
    emitter_->repeat(marks_[marks_.size() - 1 - static_cast<std::size_t>(period.iterations)], times,
                     period);
  skip({times * period.iterations, static_cast<double>(times) * period.seconds,
        times * period.rows});
}

void Replay::skip(const Jump& jump) {
  now_ += jump.seconds;
  executed_ += jump.rows;
  arrivals_.skip(jump);
  residency_.skip(jump);
  grants_.skip(jump);
  sharing_->skip(jump.seconds);
  events_ = {};
  for (std::uint32_t s = 0; s < streams_.size(); ++s) {
    StreamState& stream = streams_[s];
    // Only iterations of the body are skipped. So the times of a stream in the prologue or the epilogue do not change.
    const bool inside = stream.cursor.in_body();
    const double later = inside ? jump.seconds : 0;
    if (inside) {
      stream.cursor.skip_iterations(jump.iterations);
      stream.awaited_iteration += jump.iterations;
      for (double* time : {&stream.free_at, &stream.started_at, &stream.cause.ready})
        *time += jump.seconds;
      if (stream.cause.row >= 0) stream.cause.row += jump.rows;
    }
    if (stream.state == State::delayed || (stream.state == State::running && stream.own_left))
      expect(s, stream.expected_at + later);
  }
  for (std::uint32_t f = 0; f < flows_.size(); ++f)
    if (flows_[f].is != FlowState::Is::idle)
      expect_flow(f, flows_[f].expected_at +
                         (streams_[flows_[f].stream].cursor.in_body() ? jump.seconds : 0));
}

}  // namespace sluice::arithmetic
