// One replay of a plan, as replay.hpp describes it. Only replay.cpp and the files beside it use this.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "execute/arithmetic/sharing.hpp"
#include "execute/arrivals.hpp"
#include "execute/emitter.hpp"
#include "execute/grants.hpp"
#include "execute/occupancy.hpp"
#include "execute/residency.hpp"

namespace sluice::arithmetic {

enum class State : std::uint8_t { waiting, delayed, running };

struct StreamState {
  Cursor cursor;
  double free_at = 0;
  double started_at = 0;
  StartReason cause;
  State state = State::waiting;
  bool own_left = false;      ///< the arithmetic part of its action still runs
  std::uint32_t parts = 0;    ///< parts of its action that still run: the arithmetic part and flows
  std::uint32_t version = 0;  ///< the version of the valid event
  double expected_at = 0;     ///< the time of that event
  // The action that the stream waits for, and the next stream that waits for the same action.
  std::uint32_t awaited_action = none;
  std::int64_t awaited_iteration = 0;
  std::uint32_t next_waiter = none;
};

/// A slot for a flow that may share a link with others. A stream has enough slots for each of its actions.
struct FlowState {
  enum class Is : std::uint8_t { idle, setting_up, flowing };
  std::uint32_t stream = none;
  Is is = Is::idle;
  std::uint32_t version = 0;
  double expected_at = 0;
};

/// An event of a stream or of one of its flows. The event of a stream is that the arithmetic part of its action ends,
/// or that its head may try to start. The event of a flow is that it begins, or that it has arrived.
struct Event {
  double time;
  std::uint32_t stream;
  std::uint32_t flow;  ///< none: the event is the stream's own
  std::uint32_t version;
  bool operator>(const Event& other) const {
    return time > other.time || (time == other.time && stream > other.stream);
  }
};

/// The largest number of iterations to which waits and prefetches refer back or ahead.
std::int64_t reach_of(const Plan& plan);
/// Whether a steady state is looked for. With few iterations it would save little time.
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

  /// The flow of the plan that occupies this slot.
  const Flow& flow_in(std::uint32_t f) const {
    const std::uint32_t s = flows_[f].stream, a = streams_[s].cursor.action();
    return plan_.actions[a].flows[occupancy_.shared(a)[f - first_flow_[s]]];
  }

  // The search for the steady state is in periods.cpp.
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
  std::vector<std::uint32_t> first_flow_;  ///< per stream: the first of its flow slots
  std::optional<Sharing> sharing_;
  std::optional<Emitter> emitter_;
  std::vector<std::uint32_t> first_waiter_;  ///< per action: streams that wait for it
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::uint32_t> ending_, trying_, granted_;  ///< streams, in this round
  double now_ = 0;
  std::int64_t executed_ = 0;
  std::uint32_t leader_ = none;  ///< the stream whose iterations are counted
  bool iteration_begins_ = false;
  std::optional<PeriodSearch> period_;
  std::vector<Emitter::Mark> marks_;  ///< one mark per state of the search
  /// The period was found, and the caller asked for nothing else.
  bool seen_enough_ = false;
  ReplayResult result_;
};

}  // namespace sluice::arithmetic
