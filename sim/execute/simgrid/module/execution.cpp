// The engine, which engine.hpp describes. Only this file uses SimGrid's actors.
#include <simgrid/s4u.hpp>  // first, because the next two headers need it

#include <simgrid/version.h>
#include <xbt/log.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"
#include "execute/arrivals.hpp"
#include "execute/emitter.hpp"
#include "execute/grants.hpp"
#include "execute/occupancy.hpp"
#include "execute/simgrid/engine_module.hpp"
#include "execute/simgrid/module/agenda.hpp"

namespace sluice {

namespace sg = simgrid::s4u;

namespace {

/// Functions of the program that has loaded this module. The program sets these functions before it executes a plan.
EngineHost program = {};

/// The state of an actor. Its times are exact sums of seconds, and were not read from SimGrid's clock.
struct StreamState {
  Cursor cursor;
  double free_at = 0;
  bool ends = false;  ///< whether the actor sleeps until its action ends
  std::uint32_t awaited_action = none;
  std::int64_t awaited_iteration = 0;
  std::uint32_t next_waiter = none;
  sg::Actor* actor = nullptr;             ///< SimGrid's actor, while it lives
  std::vector<sg::CommPtr> through = {};  ///< the stream's communications that still run
};

double ulp(double x) {
  return std::nextafter(x, HUGE_VAL) - x;
}

/// Returns the precision of SimGrid's clock. This precision is fine enough for short computations, and coarse enough
/// for the clock to represent every time up to `serial_s`, the seconds of all actions one after the other.
double precision_for(double serial_s) {
  return std::max(1e-15, 8 * ulp(serial_s));
}

constexpr const char* nowhere = "/dev/null";

/// Throws IoError if the file of SimGrid's log cannot be opened. SimGrid itself would abort.
void require_descriptor() {
  const int file = ::open(nowhere, O_WRONLY | O_CLOEXEC);
  if (file < 0)
    throw IoError("cannot open '" + std::string(nowhere) +
                  "', where SimGrid's log goes: " + std::strerror(errno));
  ::close(file);
}

/// Returns SimGrid's settings for exact transfers. This file adds latencies to arrivals, so SimGrid's links have none.
std::vector<std::string> settings_for(double precision) {
  return {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
          "contexts/stack-size:" + std::to_string(stack_kib), "surf/precision:" + exact(precision)};
}

class Execution {
 public:
  Execution(const Plan& plan, Sink& sink, const EngineOptions& options)
      : plan_(plan),
        options_(options),
        made_(options.tables ? nullptr : std::make_unique<PlanTables>(plan)),
        tables_(options.tables ? *options.tables : *made_),
        residency_(tables_),
        grants_(tables_, residency_, /*unlimited=*/false),
        arrivals_(tables_),
        emitter_(tables_, sink),
        agenda_([this](const auto& due) { return wake(due); }),
        occupancy_(tables_, !options.direct_links),
        streams_(plan.streams.size()),
        first_waiter_(plan.actions.size(), none) {}

  EngineReport run() {
    EngineReport report;
    static bool used = false;
    if (std::exchange(used, true)) throw InternalError("a process can run the engine only once");
    require_descriptor();
    std::optional<SignalsHeld> held(std::in_place);
    sg::Engine engine("sluice");
    program.take_back_handlers();  // SimGrid's handlers would call exit() and abort()
    held.reset();
    xbt_log_control_set(("root.app:file:" + std::string(nowhere)).c_str());
    report.precision = precision_for(tables_.serial_seconds());
    for (const std::string& setting : settings_for(report.precision))
      sg::Engine::set_config(setting);
    if (!options_.contexts.empty()) sg::Engine::set_config("contexts/factory:" + options_.contexts);
    build_platform();
    for (std::uint32_t s = 0; s < streams_.size(); ++s) start_actor(s);
    sg::Engine::on_deadlock_cb([this] { note_blocking(); });
    const auto begin = std::chrono::steady_clock::now();
    engine.run();
    report.loop_wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (failure_) {
      cancel_transfers();
      // The communications must be freed before the engine is destroyed.
      for (StreamState& stream : streams_) stream.through.clear();
      std::rethrow_exception(failure_);
    }
    emitter_.end_round();
    report.blocking = std::move(blocking_);
    report.makespan = makespan_;
    if (2 * ulp(makespan_) > report.precision)
      throw InternalError("the run exceeds the range of the clock: " + exact(makespan_) + " s");
    return report;
  }

 private:
  /// Makes one host for all actors. For each route whose flows may meet other flows, makes a pair of hosts.
  void build_platform() {
    auto* zone = sg::create_full_zone("machine");
    host_ = zone->create_host("host", 1e9)->seal();
    std::vector<sg::Link*> links(plan_.links.size(), nullptr);
    ends_.resize(plan_.routes.size());
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
      for (const std::uint32_t f : occupancy_.shared(a)) {
        const std::uint32_t r = plan_.actions[a].flows[f].route;
        if (ends_[r].first) continue;
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
                        nullptr, route, /*symmetrical=*/false);
      }
    zone->seal();
  }

  void start_actor(std::uint32_t s) {
    streams_[s].cursor = Cursor(tables_, s);
    const auto actor = sg::Actor::create(plan_.streams[s].name, host_, [this, s] {
      try {
        walk(s);
      } catch (const simgrid::ForcefulKillException&) {
        throw;
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
        end_all();
      }
    });
    streams_[s].actor = actor.get();
  }

  /// Cancels all running communications. If one of them were freed while it runs, SimGrid would print a backtrace.
  void cancel_transfers() {
    for (const StreamState& stream : streams_)
      for (const sg::CommPtr& one : stream.through) one->cancel();
  }

  /// Ends all actors. Also cancels all communications, which would go on without actors. Call this in an actor.
  void end_all() {
    cancel_transfers();
    sg::Actor::kill_all();
  }

  /// Executes all actions of a stream in order. Each actor runs this function.
  void walk(std::uint32_t s) {
    StreamState& stream = streams_[s];
    for (; !stream.cursor.done(); stream.cursor.next()) {
      const std::uint32_t a = stream.cursor.action();
      if (stream.cursor.dropped()) continue;
      if (++executed_ % 4096 == 0) {
        program.check_interrupt();
        if (options_.progress) options_.progress(executed_);
      }
      StartReason cause = wait_for_data(s, a);
      wait_for_memory(s, a, cause);
      if (tables_.touches_memory(a)) residency_.require(a, stream.cursor.iteration());
      const double end = occupy(s, a, cause.ready);
      finish(s, a, cause, end);
    }
  }

  /// Suspends the actor until all awaited executions have ended. Returns the action's earliest start, and its reason.
  StartReason wait_for_data(std::uint32_t s, std::uint32_t a) {
    StreamState& stream = streams_[s];
    const std::int64_t iteration = stream.cursor.iteration();
    for (const Wait& wait : tables_.waits(a)) {
      const std::int64_t target = tables_.awaited(a, iteration, wait);
      if (target < 0 || arrivals_.ended(wait.action, target)) continue;
      stream.awaited_action = wait.action;
      stream.awaited_iteration = target;
      stream.next_waiter = std::exchange(first_waiter_[wait.action], s);
      sg::this_actor::suspend();
      stream.awaited_action = none;
    }
    return arrivals_.start_reason(stream.free_at, a, iteration);
  }

  void wait_for_memory(std::uint32_t s, std::uint32_t a, StartReason& cause) {
    const bool allocates = tables_.touches_memory(a) && !plan_.actions[a].allocates.empty();
    if (cause.ready > agenda_.now() &&
        (allocates || cause.ready + tables_.seconds_alone(a) == cause.ready))
      sleep_until(s, cause.ready);
    if (!allocates) return;
    const std::int64_t iteration = streams_[s].cursor.iteration();
    if (!grants_.limited(a)) {
      residency_.allocate(a, iteration);
    } else if (!grants_.request(s, a, iteration, agenda_.now())) {
      if (grants_.shared_unsettled()) agenda_.add(agenda_.now(), everybody);
      sg::this_actor::suspend();
      agenda_.running();
      cause.consider_grant(agenda_.now(), grants_.awaited(s), grants_.granted_by(s));
    }
    emitter_.granted(cause.ready, a);
  }

  /// Suspends the actor until the action that begins at `start` ends. Returns the exact end of the action.
  double occupy(std::uint32_t s, std::uint32_t a, double start) {
    double end = occupancy_.has_own(a) ? start + occupancy_.own(a) : start;
    if (occupancy_.shares(a)) end = std::max(end, flow_through(s, a, start));
    streams_[s].ends = true;
    sleep_until(s, end);
    return end;
  }

  /// Starts the action's flows that may meet other flows, each after its setup. Returns the time when all have arrived.
  double flow_through(std::uint32_t s, std::uint32_t a, double start) {
    std::vector<std::pair<double, const Flow*>> flows;  // (begin, flow)
    for (const std::uint32_t f : occupancy_.shared(a)) {
      const Flow& flow = plan_.actions[a].flows[f];
      flows.emplace_back(start + plan_.routes[flow.route].setup_s, &flow);
    }
    std::stable_sort(flows.begin(), flows.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<sg::CommPtr>& through = streams_[s].through;
    for (const auto& [begin, flow] : flows) {
      if (begin > agenda_.now()) sleep_until(s, begin);
      auto [from, to] = ends_[flow->route];
      through.push_back(sg::Comm::sendto_async(from, to, static_cast<double>(flow->bytes)));
    }
    for (const sg::CommPtr& one : through) one->wait();
    through.clear();
    return std::max(flows.back().first, sg::Engine::get_clock());
  }

  /// Ends an action. A call of SimGrid lets other actors run. So all states are changed before the first such call. All
  /// ends of a moment come before its first start.
  void finish(std::uint32_t s, std::uint32_t a, const StartReason& cause, double end) {
    StreamState& stream = streams_[s];
    const std::int64_t iteration = stream.cursor.iteration();
    const double available = end + tables_.latency(a);
    const std::int64_t row =
        emitter_.span({a, iteration, cause.ready, end, available, cause.ready - stream.free_at,
                       cause.reason, cause.blocker, cause.row});
    stream.free_at = end;
    stream.ends = false;
    makespan_ = std::max(makespan_, available);
    arrivals_.end(a, iteration, end, available, row);
    if (tables_.touches_memory(a))
      residency_.release(a, iteration, [&](const Placement& freed) {
        emitter_.released(end, freed);
        grants_.released(freed.pool, row);
      });
    std::vector<std::uint32_t> next = waiters_for(a, iteration);
    const bool others_end = --ending_ > 0;
    if (!others_end) {
      grants_.settle(next);
      if (grants_.shared_unsettled()) agenda_.add(end, everybody);
    }
    for (const std::uint32_t other : next) streams_[other].actor->resume();
    if (others_end && next.empty()) sg::this_actor::yield();
  }

  /// Returns the streams that waited for this execution, and removes them from the list of waiters.
  std::vector<std::uint32_t> waiters_for(std::uint32_t a, std::int64_t iteration) {
    std::vector<std::uint32_t> woken;
    std::uint32_t s = std::exchange(first_waiter_[a], none);
    while (s != none) {
      StreamState& stream = streams_[s];
      const std::uint32_t next = stream.next_waiter;
      if (stream.awaited_iteration <= iteration)
        woken.push_back(s);
      else
        stream.next_waiter = std::exchange(first_waiter_[a], s);
      s = next;
    }
    return woken;
  }

  /// Wakes the streams that are due. agenda.hpp calls this function outside of actors, at the beginning of a round.
  /// `everybody` stands for the shared pools, which come last in `due`: they grant after all other events of a moment.
  bool wake(const std::vector<std::uint32_t>& due) {
    emitter_.end_round();
    std::vector<std::uint32_t> next = due;
    if (next.back() == everybody) {
      next.erase(std::find(next.begin(), next.end(), everybody), next.end());
      if (next.empty())
        grants_.settle_shared(next);
      else
        agenda_.add(agenda_.now(), everybody);
    }
    ending_ = std::count_if(next.begin(), next.end(), [&](auto s) { return streams_[s].ends; });
    if (failure_) return false;  // after a failure, all actors have ended
    for (const std::uint32_t s : next) streams_[s].actor->resume();
    return !next.empty();
  }

  void sleep_until(std::uint32_t s, double time) {
    agenda_.add(time, s);
    sg::this_actor::suspend();
    agenda_.running();
    if (!streams_[s].ends && ending_ > 0) sg::this_actor::yield();  // ends come before starts
  }

  void note_blocking() {
    std::vector<Deadlock::Waiter> waiters;
    double time = 0;
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      const StreamState& stream = streams_[s];
      time = std::max(time, stream.free_at);
      if (stream.cursor.done()) continue;
      waiters.push_back({stream.cursor.action(), stream.cursor.iteration(), stream.awaited_action,
                         stream.awaited_iteration, grants_.waits(s) ? grants_.awaited(s) : none, 0,
                         grants_.earlier_requests(s)});
    }
    blocking_ = residency_.blocking(time, std::move(waiters));
  }

  /// An entry of `agenda_` has this value, instead of the number of a stream, if it stands for all shared pools.
  static constexpr std::uint32_t everybody = none;

  const Plan& plan_;
  const EngineOptions& options_;
  std::unique_ptr<PlanTables> made_;  ///< the engine's own tables, if the caller passed none
  const PlanTables& tables_;
  Residency residency_;
  Grants grants_;
  Arrivals arrivals_;
  Emitter emitter_;
  Agenda agenda_;
  Occupancy occupancy_;  ///< says which flows are SimGrid communications
  std::vector<StreamState> streams_;
  std::vector<std::uint32_t> first_waiter_;  ///< for each action, the first waiting stream
  std::vector<std::pair<sg::Host*, sg::Host*>> ends_;  ///< for each route, the hosts at its ends
  sg::Host* host_ = nullptr;
  std::int64_t ending_ = 0;  ///< the number of woken actors that must still end their actions
  double makespan_ = 0;
  std::int64_t executed_ = 0;
  std::exception_ptr failure_;
  std::optional<Deadlock> blocking_;
};

EngineReport run(const Plan& plan, Sink& sink, const EngineOptions& options) {
  return Execution(plan, sink, options).run();
}

std::string settings(const Plan& plan) {
  return join(settings_for(precision_for(serial_seconds(plan))), " ");
}

std::string version() {
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) +
         (patch > 0 ? "." + std::to_string(patch) : "");
}

const EngineModule& described() {
  static const EngineModule module = {library_digest(), run, settings, version};
  return module;
}

}  // namespace
}  // namespace sluice

extern "C" const sluice::EngineModule* sluice_engine_module(const sluice::EngineHost& host) {
  sluice::program = host;
  return &sluice::described();
}
