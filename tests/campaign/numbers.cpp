// Checks of the numbers and of the trace of one execution.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "campaign/invariants.hpp"
#include "plan/tables.hpp"

namespace sluice::test {
namespace {

double sum_of(const Summary& summary, const std::string& name) {
  double sum = 0;
  if (const Summary::Metric* metric = summary.find(name))
    for (const SummaryValue::Keyed& keyed : metric->value.keyed) sum += keyed.number;
  return sum;
}

bool is_known(const Summary& summary, const std::string& name) {
  return !std::isnan(summary.number(name));
}

void check_sums(const Executed& run, Complaints& complaints) {
  const Summary& s = run.summary;
  const Workload& workload = run.scenario.workload;
  const double makespan = run.seconds();
  const double samples = static_cast<double>(workload.samples_per_step() * workload.steps);
  complaints.equal(s.number("samples"), samples, "the samples are samples per step x steps");
  if (makespan > 0)
    complaints.equal(s.number("throughput_samples_per_s"), samples / makespan,
                     "throughput is samples / makespan");
  complaints.equal(s.number("transfer_s"), sum_of(s, "transfer_s_by_class"),
                   "the seconds of transfers are the sum over the classes");
  complaints.equal(s.number("transferred_bytes"), sum_of(s, "transferred_bytes_by_class"),
                   "the transferred bytes are the sum over the classes");
  complaints.at_most(s.number("lower_bound_s"), makespan,
                     "the lower bound of the plan is at most the makespan");
  if (is_known(s, "question_bound_s"))
    complaints.at_most(s.number("question_bound_s"), makespan,
                       "the bound of the question is at most the makespan");
  complaints.at_most(s.number("first_step_s"), makespan,
                     "the first step takes at most the makespan");
  complaints.at_most(sum_of(s, "compute_s_by_stage"), s.number("compute_s"),
                     "the seconds of the stages are at most the seconds of all computation");
  for (const char* share : {"compute_utilisation", "bubble_fraction", "measured_share"})
    if (is_known(s, share))
      complaints.at_most(std::abs(s.number(share) - 0.5), 0.5,
                         std::string(share) + " lies between 0 and 1");
  const bool keeps =
      !workload.training || (run.planned.fates && (*run.planned.fates)->name == "keep_all");
  if (keeps && is_known(s, "recompute_s"))
    complaints.equal(s.number("recompute_s"), 0,
                     "no seconds are recomputed if all activations are kept");
}

/// Checks the average power of each device: at least its idle power, at most its busy power.
void check_energy(const Executed& run, Complaints& complaints) {
  const Summary& s = run.summary;
  const double makespan = run.seconds(), slack = 1e-9;
  if (is_known(s, "energy_j"))
    complaints.equal(s.number("energy_j"),
                     sum_of(s, "energy_j_by_device") + sum_of(s, "energy_j_by_link"),
                     "the energy is the sum over devices and links");
  // For each device, the idle power and the busy power.
  std::map<std::string, std::pair<double, double>> watts;
  for (const Stream& stream : run.plan().streams) {
    auto& [idle, most] = watts[stream.device.empty() ? stream.name : stream.device];
    idle += stream.idle_w;
    most += std::max(stream.idle_w, stream.busy_w);
  }
  if (const Summary::Metric* devices = s.find("energy_j_by_device"))
    for (const SummaryValue::Keyed& device : devices->value.keyed) {
      const auto& [idle, most] = watts[device.key.front()];
      complaints.at_most(idle * makespan, device.number,
                         "the energy of a device is at least its idle power x "
                         "makespan",
                         slack);
      complaints.at_most(device.number, most * makespan,
                         "the energy of a device is at most its busy power x "
                         "makespan",
                         slack);
    }
}

void check_memory(const Executed& run, Complaints& complaints) {
  const Summary& s = run.summary;
  for (const Pool& pool : run.plan().pools) {
    const double peak = s.number("peak_bytes", {pool.name});
    if (std::isnan(peak)) continue;
    double by_class = 0;
    for (const SummaryValue::Keyed& one : s.find("peak_bytes_by_class")->value.keyed)
      if (one.key.front() == pool.name) by_class += one.number;
    complaints.equal(peak, by_class, "the peak of " + pool.name + " is the sum over the classes");
    if (pool.limited())
      complaints.at_most(
          peak, static_cast<double>(pool.most()),
          "the peak of " + pool.name + " is at most the number of bytes that the pool may grant",
          0);
  }
  if (run.scenario.capacity_enforced)
    complaints.equal(sum_of(s, "overflow_bytes"), 0,
                     "no memory overflows if capacities are enforced");
}

/// The seconds for which each stream and each link is busy, from the spans of the trace. The bound of the plan counts
/// at most these seconds, because it counts each transfer as if no other transfer used its links.
struct Busy {
  std::vector<double> streams, links;
  std::vector<double> first, last;  ///< the first start and the last end on each stream
};

Busy busy_of(const Executed& run) {
  const Plan& plan = run.plan();
  Busy busy{std::vector<double>(plan.streams.size(), 0), std::vector<double>(plan.links.size(), 0),
            std::vector<double>(plan.streams.size(), run.seconds()),
            std::vector<double>(plan.streams.size(), 0)};
  for (const Span& span : run.trace.spans) {
    const Action& action = plan.actions[span.action];
    busy.streams[action.stream] += span.end - span.start;
    busy.first[action.stream] = std::min(busy.first[action.stream], span.start);
    busy.last[action.stream] = std::max(busy.last[action.stream], span.end);
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links)
        busy.links[link] += static_cast<double>(flow.bytes) / plan.links[link].bandwidth;
  }
  return busy;
}

/// Checks three claims about the stream or link that `bound_by` names.
/// First, it is busy for at least half of the lower bound.
/// Second, if it is a stream: its busy seconds, the seconds before its first action and the seconds after its last
/// action are together at least 99 % of the bound.
/// Third, suppose that another stream or link is busy for at least 99 % of the bound. Then the named stream or link is
/// busy for at least as long as the other. If links are shared, streams are not compared in this way.
void check_bound_by(const Executed& run, Complaints& complaints) {
  const Plan& plan = run.plan();
  const double bound = run.summary.number("lower_bound_s");
  const std::string named = run.summary.find("bound_by")->value.text;
  const Busy busy = busy_of(run);
  double works = 0;
  bool known = named == "dependencies";
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    if (plan.streams[s].name != named) continue;
    known = true;
    works = busy.streams[s];
    complaints.at_most(
        0.99 * bound, busy.first[s] + works + run.seconds() - busy.last[s],
        "the work of the stream in bound_by and the time before and after it fill the bound");
  }
  for (std::size_t l = 0; l < plan.links.size(); ++l)
    if (plan.links[l].name == named) known = true, works = busy.links[l];
  complaints.require(known, "bound_by names a stream, a link or dependencies");
  if (named != "dependencies")
    complaints.at_most(0.5 * bound, works,
                       "what bound_by names is busy for at least half of the bound");
  if (bound == 0) return;
  for (std::size_t l = 0; l < plan.links.size(); ++l)
    if (busy.links[l] >= 0.99 * bound)
      complaints.at_most(busy.links[l], works, "no link works longer than what bound_by names");
  if (!PlanTables(plan).contention_free()) return;
  for (std::size_t s = 0; s < plan.streams.size(); ++s)
    if (busy.streams[s] >= 0.99 * bound)
      complaints.at_most(busy.streams[s], works, "no stream works longer than what bound_by names");
}

/// Checks that no simulated candidate was faster than the lower bound with which the judge ordered the candidates.
void check_bounds_of_candidates(const Executed& run, Complaints& complaints) {
  for (const Fact& fact : run.plan().facts)
    complaints.require(fact.name != "beaten_bound",
                       "no candidate is faster than its lower bound: " + fact.shown());
}

}  // namespace

void check_numbers(const Executed& run, Complaints& complaints) {
  check_bounds_of_candidates(run, complaints);
  check_sums(run, complaints);
  check_energy(run, complaints);
  check_memory(run, complaints);
  check_bytes(run, complaints);
  check_bound_by(run, complaints);
}

void check_trace(const Executed& run, Complaints& complaints) {
  const Plan& plan = run.plan();
  std::vector<double> free_at(plan.streams.size(), 0);
  double makespan = 0, busy = 0;
  std::int64_t row = 0;
  for (const Span& span : run.trace.spans) {
    const std::uint32_t stream = plan.actions[span.action].stream;
    const std::string name = name_of(plan.actions[span.action]);
    complaints.at_most(free_at[stream], span.start, name + " starts when its stream is free", 0);
    complaints.at_most(span.start, span.end, name + " ends after its start", 0);
    complaints.at_most(span.end, span.available, name + " arrives after its end", 0);
    complaints.require(span.cause < row, name + " has its cause in an earlier span");
    // The recorded time may come from an earlier repetition. The difference of two late times is less exact.
    const double waited = span.start - free_at[stream];
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    complaints.require(std::abs(span.waited - waited) <=
                           1e-9 * std::max(span.waited, waited) + 1e-15 + rounding * span.start,
                       name + " waited for the recorded time");
    free_at[stream] = span.end;
    makespan = std::max(makespan, span.available);
    if (plan.streams[stream].kind == StreamKind::compute) busy += span.end - span.start;
    ++row;
    if (complaints.all().size() > 5) return;
  }
  complaints.equal(makespan, run.seconds(), "the makespan is the last arrival", 0);
  complaints.equal(busy, run.summary.number("compute_s"),
                   "the seconds of computation are the sum over the spans");
  std::vector<std::int64_t> levels(plan.pools.size(), 0), most(plan.pools.size(), 0);
  double before = 0;
  for (const MemoryEvent& event : run.trace.events) {
    levels[event.pool] += event.delta;
    most[event.pool] = std::max(most[event.pool], levels[event.pool]);
    complaints.require(event.level == levels[event.pool] && event.level >= 0,
                       "the levels of " + plan.pools[event.pool].name +
                           " are the sums of the bytes that entered and left");
    complaints.require(event.time >= before, "memory events are in the order of time");
    before = event.time;
    if (complaints.all().size() > 5) return;
  }
  for (std::size_t pool = 0; pool < plan.pools.size(); ++pool) {
    const double peak = run.summary.number("peak_bytes", {plan.pools[pool].name});
    if (!std::isnan(peak))
      complaints.equal(peak, static_cast<double>(most[pool]),
                       "the peak is the highest level of the trace", 0);
  }
}

}  // namespace sluice::test
