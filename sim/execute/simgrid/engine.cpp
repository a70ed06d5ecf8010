#include "execute/simgrid/engine.hpp"

#include <simgrid/s4u.hpp>  // before the two that need what it includes

#include <simgrid/version.h>
#include <xbt/log.h>

#include <simgrid/kernel/Timer.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <exception>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/pools.hpp"

namespace sluice {

namespace sg = simgrid::s4u;

namespace {

/// What one actor knows of itself. Times are exact sums, not readings of the clock.
struct StreamState {
  Cursor cursor;
  double free_at = 0;
  double woken_at = 0;  ///< exact time of what ended the last block
  double granted_at = 0;
  bool blocked = false;
  std::uint32_t awaited_action = none;
  std::int64_t awaited_iteration = 0;
  std::uint32_t next_waiter = none;
  sg::Actor* actor = nullptr;  ///< SimGrid's, while it lives
};

/// An execution that has ended but not arrived (only with a latency).
struct Flight {
  std::int64_t iteration;
  double arrival;
};

/// Executions of one action that others may wait for.
struct Progress {
  std::int64_t done = 0;              ///< iteration + 1 of the last one that ended
  double last_arrival = 0;            ///< of that one
  std::uint32_t first_waiter = none;  ///< streams that block on it: a list through StreamState
};

double ulp(double x) {
  return std::nextafter(x, HUGE_VAL) - x;
}

/// Fine enough for short kernels, and coarse enough that no event is lost up to a bound of the
/// makespan.
double precision_for(const Plan& plan) {
  return std::max(1e-15, 8 * ulp(serial_seconds(plan)));
}

/// Exact transfers; see simgrid's documentation of each. Latency is ours, so links have none.
std::vector<std::string> settings_for(double precision) {
  return {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
          "contexts/stack-size:1024", "surf/precision:" + exact(precision)};
}

/// Why the next span starts when it does.
struct Cause {
  double ready = 0;
  WaitReason reason = WaitReason::none;
  std::uint32_t blocker = none;

  void raise(double time, WaitReason why, std::uint32_t who) {
    if (time <= ready) return;
    ready = time;
    reason = why;
    blocker = who;
  }
};

class Execution {
 public:
  Execution(const Plan& plan, Sink& sink, const EngineOptions& options)
      : plan_(plan),
        sink_(sink),
        options_(options),
        index_(plan),
        instances_(index_),
        pools_(index_, instances_, [this](auto stream, double time) { granted(stream, time); }),
        streams_(plan.streams.size()),
        progress_(plan.actions.size()),
        flights_(plan.actions.size()) {
    for (const Action& action : plan.actions)
      flows_.push_back(action.is_transfer() && (!options.direct_links || !index_.alone(action)));
  }

  EngineReport run() {
    EngineReport report;
    static bool used = false;
    if (std::exchange(used, true)) throw InternalError("a process can run one engine only");
    sg::Engine engine("sluice");
    install_interrupt_handlers();  // SimGrid's own handler would call exit()
    xbt_log_control_set("root.app:file:/dev/null");
    report.precision = tick_ = precision_for(plan_);
    for (const std::string& setting : settings_for(report.precision))
      sg::Engine::set_config(setting);
    if (!options_.contexts.empty()) sg::Engine::set_config("contexts/factory:" + options_.contexts);
    build_platform();
    note_homes();
    for (std::uint32_t s = 0; s < streams_.size(); ++s) start_actor(s);
    sg::Engine::on_deadlock_cb([this] { note_blocking(); });
    const auto begin = std::chrono::steady_clock::now();
    engine.run();
    report.loop_wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (failure_) std::rethrow_exception(failure_);
    if (blocking_) throw Infeasible(describe(plan_, *blocking_));
    report.makespan = makespan_;
    if (2 * ulp(makespan_) > report.precision)
      throw InternalError("the run left the range of its clock: " + exact(makespan_) + " s");
    return report;
  }

 private:
  /// A host for each device, and for each route that others share a pair of hosts at its ends.
  void build_platform() {
    auto* zone = sg::create_full_zone("machine");
    host_ = zone->create_host("host", 1e9)->seal();
    std::vector<sg::Link*> links(plan_.links.size(), nullptr);
    ends_.resize(plan_.routes.size());
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
      const std::uint32_t r = plan_.actions[a].route;
      if (!flows_[a] || ends_[r].first) continue;
      std::vector<sg::LinkInRoute> route;
      for (std::uint32_t l : plan_.routes[r].links) {
        if (!links[l])
          links[l] = zone->create_link("link" + std::to_string(l), plan_.links[l].bandwidth)
                         ->set_latency(0)
                         ->seal();
        route.emplace_back(links[l]);
      }
      const std::string number = std::to_string(r);
      ends_[r] = {zone->create_host("from" + number, 1e9)->seal(),
                  zone->create_host("to" + number, 1e9)->seal()};
      zone->add_route(ends_[r].first->get_netpoint(), ends_[r].second->get_netpoint(), nullptr,
                      nullptr, route, false);
    }
    zone->seal();
  }

  void start_actor(std::uint32_t s) {
    streams_[s].cursor = Cursor(plan_, index_.stream_actions[s]);
    const auto actor = sg::Actor::create(plan_.streams[s].name, host_, [this, s] {
      try {
        walk(s);
      } catch (const simgrid::ForcefulKillException&) {
        throw;
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
        sg::Actor::kill_all();
      }
    });
    streams_[s].actor = actor.get();
  }

  /// The life of a stream: its actions, one after the other.
  void walk(std::uint32_t s) {
    StreamState& stream = streams_[s];
    for (; !stream.cursor.done(); stream.cursor.next()) {
      const std::uint32_t a = stream.cursor.action();
      if (stream.cursor.dropped()) continue;
      if (++executed_ % 4096 == 0) {
        check_interrupt();
        if (options_.progress) options_.progress(executed_);
      }
      Cause cause{stream.free_at};
      wait_for_data(s, a, cause);
      wait_for_memory(s, a, cause);
      if (index_.touches_memory(a)) instances_.require(a, stream.cursor.iteration());
      const double end = occupy(s, a, cause.ready);
      finish(s, a, cause, end);
    }
  }

  void wait_for_data(std::uint32_t s, std::uint32_t a, Cause& cause) {
    StreamState& stream = streams_[s];
    for (const Wait& wait : index_.waits(a)) {
      const std::int64_t target = index_.awaited(a, stream.cursor.iteration(), wait);
      if (target < 0) continue;
      Progress& progress = progress_[wait.action];
      if (progress.done <= target) {
        stream.awaited_action = wait.action;
        stream.awaited_iteration = target;
        stream.next_waiter = std::exchange(progress.first_waiter, s);
        block(stream);
        stream.awaited_action = none;
        cause.raise(stream.woken_at, WaitReason::data, wait.action);
      } else if (progress.done == target + 1) {
        cause.raise(progress.last_arrival, WaitReason::data, wait.action);
      } else if (index_.latency(wait.action) > 0) {
        for (const Flight& flight : flights_[wait.action])
          if (flight.iteration == target)
            cause.raise(flight.arrival, WaitReason::data, wait.action);
      }
    }
  }

  void wait_for_memory(std::uint32_t s, std::uint32_t a, Cause& cause) {
    if (!index_.touches_memory(a) || plan_.actions[a].allocates.empty()) return;
    StreamState& stream = streams_[s];
    const std::int64_t iteration = stream.cursor.iteration();
    sleep_until(s, cause.ready);
    if (index_.demands[a].empty()) {
      instances_.allocate(a, iteration);
      return note_allocations(a, cause.ready);
    }
    pools_.request(s, a, iteration, cause.ready);
    const auto shared = [&](const Demand& demand) { return plan_.pools[demand.pool].shared; };
    if (std::any_of(index_.demands[a].begin(), index_.demands[a].end(), shared)) let_others_ask(s);
    if (pools_.settle(s)) return cause.raise(stream.granted_at, WaitReason::memory, none);
    const std::uint32_t pool = pools_.awaited(s), before = pools_.turn_before(s);
    block(stream);
    if (before == none)
      cause.raise(stream.granted_at, WaitReason::memory, pool);
    else
      cause.raise(stream.granted_at, WaitReason::data, before);
  }

  /// All requests of this moment come in before one is granted.
  void let_others_ask(std::uint32_t s) { sleep_until(s, sg::Engine::get_clock() + tick_); }

  /// Called by the pools at the moment of a grant.
  void granted(std::uint32_t s, double time) {
    StreamState& stream = streams_[s];
    stream.granted_at = time;
    note_allocations(stream.cursor.action(), time);
    if (stream.blocked) unblock(stream, time);
  }

  /// What is in the pools from the start.
  void note_homes() {
    std::vector<std::int64_t> levels(plan_.pools.size(), 0);
    for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t) {
      const Tensor& tensor = plan_.tensors[t];
      if (tensor.home == none) continue;
      levels[tensor.home] += tensor.bytes;
      sink_.memory({0, tensor.home, t, tensor.bytes, levels[tensor.home]});
    }
  }

  /// One event a tensor, with the level after each; the pools hold all of them already.
  void note_allocations(std::uint32_t a, double time) {
    const std::vector<Placement>& allocates = plan_.actions[a].allocates;
    for (std::size_t i = 0; i < allocates.size(); ++i) {
      const auto [tensor, pool] = allocates[i];
      std::int64_t level = instances_.level(pool);
      for (std::size_t later = i + 1; later < allocates.size(); ++later)
        if (allocates[later].pool == pool) level -= plan_.tensors[allocates[later].tensor].bytes;
      sink_.memory({time, pool, tensor, plan_.tensors[tensor].bytes, level});
    }
  }

  /// Spends the action's time from `start`; returns its exact end.
  double occupy(std::uint32_t s, std::uint32_t a, double start) {
    if (!flows_[a]) {
      const double end = start + index_.seconds_alone(a);
      sleep_until(s, end);
      return end;
    }
    const Action& action = plan_.actions[a];
    const Route& route = plan_.routes[action.route];
    const double flowing = start + route.setup_s;
    sleep_until(s, flowing);
    if (action.bytes == 0) return flowing;
    auto [from, to] = ends_[action.route];
    sg::CommPtr comm = sg::Comm::sendto_async(from, to, static_cast<double>(action.bytes));
    comm->wait();
    return std::max(flowing, sg::Engine::get_clock());
  }

  void finish(std::uint32_t s, std::uint32_t a, const Cause& cause, double end) {
    StreamState& stream = streams_[s];
    const std::int64_t iteration = stream.cursor.iteration();
    const double available = end + index_.latency(a);
    sink_.span({a, iteration, cause.ready, end, available, cause.ready - stream.free_at,
                cause.reason, cause.blocker});
    stream.free_at = end;
    makespan_ = std::max(makespan_, available);
    if (index_.touches_memory(a)) release(a, iteration, end);
    if (available > end && index_.repeats(a)) {
      auto& flights = flights_[a];
      std::erase_if(flights, [&](const Flight& flight) { return flight.arrival <= end; });
      flights.push_back({iteration, available});
    }
    ended(a, iteration, available);
  }

  void release(std::uint32_t a, std::int64_t iteration, double time) {
    std::vector<std::uint32_t> changed;
    instances_.release(a, iteration, [&](const Placement& freed) {
      sink_.memory({time, freed.pool, freed.tensor, -plan_.tensors[freed.tensor].bytes,
                    instances_.level(freed.pool)});
      changed.push_back(freed.pool);
    });
    for (std::uint32_t pool : changed) pools_.released(pool, time);
  }

  void ended(std::uint32_t a, std::int64_t iteration, double arrival) {
    Progress& progress = progress_[a];
    progress.done = iteration + 1;
    progress.last_arrival = arrival;
    std::uint32_t s = std::exchange(progress.first_waiter, none);
    while (s != none) {
      StreamState& stream = streams_[s];
      const std::uint32_t next = stream.next_waiter;
      if (stream.awaited_iteration <= iteration)
        unblock(stream, arrival);
      else
        stream.next_waiter = std::exchange(progress.first_waiter, s);
      s = next;
    }
  }

  void block(StreamState& stream) {
    stream.blocked = true;
    sg::this_actor::suspend();
  }

  /// Popped from its list before: resume() yields to other actors.
  void unblock(StreamState& stream, double time) {
    stream.blocked = false;
    stream.woken_at = time;
    stream.actor->resume();
  }

  /// A timer that resumes the actor costs half of sleep_for(), and ends at its very time: sleeps
  /// that end closer together than SimGrid's precision end together.
  void sleep_until(std::uint32_t s, double time) {
    if (time <= sg::Engine::get_clock()) return;
    simgrid::kernel::timer::Timer::set(time, [this, s] {
      if (!failure_) streams_[s].actor->resume();  // after a failure the actors are gone
    });
    sg::this_actor::suspend();
  }

  void note_blocking() {
    std::vector<Blocking::Waiter> waiters;
    double time = 0;
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      const StreamState& stream = streams_[s];
      if (stream.cursor.done()) continue;
      const bool data = stream.awaited_action != none;
      waiters.push_back({stream.cursor.action(), stream.cursor.iteration(), stream.awaited_action,
                         stream.awaited_iteration, data ? none : pools_.awaited(s), 0});
      time = std::max(time, stream.free_at);
    }
    blocking_ = instances_.blocking(time, std::move(waiters));
  }

  const Plan& plan_;
  Sink& sink_;
  const EngineOptions& options_;
  PlanIndex index_;
  Instances instances_;
  Pools pools_;
  std::vector<StreamState> streams_;
  std::vector<Progress> progress_;
  std::vector<std::vector<Flight>> flights_;           ///< by action
  std::vector<char> flows_;                            ///< by action: a SimGrid communication
  std::vector<std::pair<sg::Host*, sg::Host*>> ends_;  ///< by route
  sg::Host* host_ = nullptr;
  double tick_ = 0;  ///< s: the least time that SimGrid tells apart
  double makespan_ = 0;
  std::int64_t executed_ = 0;
  std::exception_ptr failure_;
  std::optional<Blocking> blocking_;
};

}  // namespace

EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options) {
  return Execution(plan, sink, options).run();
}

std::string engine_settings(const Plan& plan) {
  return join(settings_for(precision_for(plan)), " ");
}

std::string simgrid_version() {
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) +
         (patch > 0 ? "." + std::to_string(patch) : "");
}

}  // namespace sluice
