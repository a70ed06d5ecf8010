// The class Replay executes one plan, as replay.hpp describes it. Only the files of this folder use
// this class.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "execute/arithmetic/least_rest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/arithmetic/sharing.hpp"
#include "execute/arrivals.hpp"
#include "execute/emitter.hpp"
#include "execute/grants.hpp"
#include "execute/occupancy.hpp"
#include "execute/residency.hpp"

namespace sluice::arithmetic {

/// A stream is `delayed` if all executions that its next action awaits have ended, but the action may
/// start only at a later time, for example when their data arrive.
enum class State : std::uint8_t { waiting, delayed, running };

struct StreamState {
  Cursor cursor;
  double free_at = 0;
  double started_at = 0;
  StartReason cause;
  State state = State::waiting;
  bool own_left = false;      ///< whether the arithmetic part (occupancy.hpp) of the action runs
  std::uint32_t parts = 0;    ///< how many flows and arithmetic parts of the action still run
  std::uint32_t version = 0;  ///< an event with another version is no longer valid
  double expected_at = 0;     ///< the time of the valid event
  // The action and the iteration for which the stream waits, and the next stream in the list of those that wait for
  // this action.
  std::uint32_t awaited_action = none;
  std::int64_t awaited_iteration = 0;
  std::uint32_t next_waiter = none;
};

/// The state of a flow that may share a link. Each stream has enough of these objects for the flows of any one of its
/// actions.
struct FlowState {
  enum class Is : std::uint8_t { idle, setting_up, flowing };
  std::uint32_t stream = none;
  Is is = Is::idle;
  std::uint32_t version = 0;
  double expected_at = 0;
};

/// An event of a stream or of one of its flows. At an event of a stream, either the stream's next action tries to
/// start, or the arithmetic part of its running action ends. This is the part that shares no link with other actions
/// (occupancy.hpp). At an event of a flow, the flow begins or has arrived.
struct Event {
  double time;
  std::uint32_t stream;
  std::uint32_t flow;  ///< `none` if the event is an event of the stream
  std::uint32_t version;
  bool operator>(const Event& other) const {
    return time > other.time || (time == other.time && stream > other.stream);
  }
};

/// Returns the largest number among the distances of all waits and the |`ahead`| of all actions in the body, in
/// iterations.
std::int64_t reach_of(const Plan& plan);
/// Returns whether the replay looks for a steady state. For a plan with few iterations it does not, because skipping
/// periods would save little time.
bool may_repeat(const Plan& plan);

class Replay {
 public:
  /// `tables` and `options` must outlive this object.
  Replay(const PlanTables& tables, Sink* sink, const ReplayOptions& options);
  ReplayResult run();

 private:
  void add_flow_places();
  void look_up();
  bool next_event();
  void round();
  void happen(const Event& event);
  void part_ends(std::uint32_t s);
  void go_on();
  void start_granted();
  void share_links();
  void expect(std::uint32_t s, double time);
  void expect_flow(std::uint32_t f, double time);
  void attempt(std::uint32_t s);
  bool all_ended(std::uint32_t s);
  void note_grant(std::uint32_t a);
  void start(std::uint32_t s, double time);
  void begin_to_flow(std::uint32_t f);
  void finish(std::uint32_t s);
  void wake(std::uint32_t a, std::int64_t iteration);
  void note_blocking();
  bool too_long() const { return least_end_ && least_end_->too_long(); }

  /// Returns the flow of the plan that `flows_[f]` stands for.
  const Flow& flow_in(std::uint32_t f) const {
    const std::uint32_t s = flows_[f].stream, a = streams_[s].cursor.action();
    return plan_.actions[a].flows[occupancy_.shared(a)[f - first_flow_[s]]];
  }

  // The file periods.cpp defines these functions, which search for the steady state.
  void look_for_period();
  Snapshot snapshot(std::int64_t iteration) const;
  void write(Snapshot& state, std::uint32_t s) const;
  void write_running(Snapshot& state, std::uint32_t s) const;
  void jump(const Jump& period);
  void skip(const Jump& jump);

  const Plan& plan_;
  const ReplayOptions& options_;
  const PlanTables& tables_;
  Occupancy occupancy_;
  Residency residency_;
  Grants grants_;
  Arrivals arrivals_;
  std::vector<StreamState> streams_;
  std::vector<FlowState> flows_;
  /// For each stream, the index of its first flow in `flows_`.
  std::vector<std::uint32_t> first_flow_;
  std::optional<Sharing> sharing_;
  std::optional<Emitter> emitter_;
  /// For each action, the first stream in the list of the streams that wait for it.
  std::vector<std::uint32_t> first_waiter_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  /// The streams with an event in this round.
  std::vector<std::uint32_t> ending_, trying_, granted_;
  double now_ = 0;
  std::int64_t executed_ = 0;
  std::uint32_t leader_ = none;  ///< periods are counted in this stream's iterations
  bool iteration_begins_ = false;
  std::optional<PeriodSearch> period_;
  std::vector<Emitter::Mark> marks_;  ///< one mark per recorded state
  /// True after the period was found, if the caller needs nothing else. Then the replay may end.
  bool seen_enough_ = false;
  std::optional<LeastEnd> least_end_;
  ReplayResult result_;
};

}  // namespace sluice::arithmetic
