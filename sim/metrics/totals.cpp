#include "metrics/totals.hpp"

#include <algorithm>

#include "base/large_pages.hpp"
#include "metrics/steady.hpp"
#include "plan/tables.hpp"

namespace sluice {

std::int64_t middle_iteration(const Plan& plan) {
  const std::int64_t steps = plan.iterations / plan.iterations_per_step;
  return ((steps - 1) / 2 + 1) * plan.iterations_per_step - 1;
}

namespace {

bool loads_weights(const Plan& plan, const Action& action) {
  return std::ranges::any_of(action.flows, [&](const Flow& flow) {
    return flow.tensor != none && plan.tensors[flow.tensor].tensor_class == TensorClass::weight;
  });
}

}  // namespace

Totals::Totals(const Plan& plan)
    : plan_(plan),
      middle_(middle_iteration(plan)),
      last_(plan.iterations - 1),
      first_(plan.iterations_per_step - 1),
      streams_(plan.streams.size()),
      pools_(plan.pools.size()) {
  const std::size_t count = plan.actions.size();
  actions_.reserve(count);
  prefer_large_pages(actions_.data(), count * sizeof(Action));
  actions_.resize(count);
  const bool updates_follow = updates_follow_iterations(plan),
             computes_there = computes_after_iterations(plan);
  bool computed = false;
  places_.reserve(count);
  prefer_large_pages(places_.data(), count * sizeof(Place));
  for (const sluice::Action& action : plan.actions) {
    const bool compute = plan.streams[action.stream].kind == StreamKind::compute;
    computed = computed || (compute && action.samples > 0);
    const bool fills = places_.size() < plan.body_begin && !computed && loads_weights(plan, action);
    filling_left_ += fills ? 1 : 0;
    const bool ends_step =
        (computes_there || (updates_follow && compute)) && places_.size() >= plan.body_end;
    places_.push_back(
        {action.stream, compute, action.is_transfer(), fills, ends_step, action.ahead});
  }
}

void Totals::span(const Span& span) {
  sums_.reset();
  const Place& place = places_[span.action];
  Action& tally = actions_[span.action];
  ++tally.executions;
  tally.seconds.add(span.end - span.start);

  Stream& stream = streams_[place.stream];
  ++stream.spans;
  stream.first_start = std::min(stream.first_start, span.start);
  stream.last_end = std::max(stream.last_end, span.end);
  if (waits_for_transfer(span)) stream.exposed_s.add(span.waited);

  if (place.fills) {
    --filling_left_;
    filled_ = std::max(filled_, span.available);
  }
  const double idle_from = span.start - span.waited;
  if (place.compute && span.waited > 0 && (filling_left_ > 0 || idle_from < filled_)) {
    const double until = filling_left_ > 0 ? span.start : std::min(span.start, filled_);
    stream.filling_s.add(until - idle_from);
  }

  makespan_ = std::max(makespan_, span.available);
  const bool of_first = span.iteration + place.ahead == first_;
  if (of_first || span.iteration == middle_ || span.iteration == last_) complete(span);
  if (place.ends_step)
    for (auto* const time : {&first_complete_, &middle_complete_, &last_complete_})
      *time = std::max(time->value_or(0), span.available);
}

/// Records when steps are complete. If an action of the first iterations does early work for a later step, the first
/// step does not wait for this action.
void Totals::complete(const Span& span) {
  if (plan_.section_of(span.action) != Section::body) return;
  const auto reach = [&](std::optional<double>& complete) {
    complete = std::max(complete.value_or(0), span.available);
  };
  if (span.iteration == middle_) reach(middle_complete_);
  if (span.iteration == last_) reach(last_complete_);
  if (span.iteration + places_[span.action].ahead != first_) return;
  reach(first_complete_);
  const std::int64_t samples = plan_.actions[span.action].samples_done;
  if (plan_.steps_per_iteration > 1 && samples > 0) finished_.push_back({span.available, samples});
}

std::optional<double> Totals::first_complete() const {
  if (plan_.steps_per_iteration == 1 || finished_.empty()) return first_complete_;
  std::vector<FinishedSamples> in_time = finished_;
  std::sort(in_time.begin(), in_time.end(),
            [](const FinishedSamples& a, const FinishedSamples& b) { return a.when < b.when; });
  std::int64_t all = 0, so_far = 0;
  for (const FinishedSamples& done : in_time) all += done.samples;
  for (const FinishedSamples& done : in_time)
    if ((so_far += done.samples) * plan_.steps_per_iteration >= all) return done.when;
  return first_complete_;
}

void Totals::repeat(const Repetition& r) {
  double idle_from = std::numeric_limits<double>::infinity();
  for (const Span& span : r.spans) idle_from = std::min(idle_from, span.start - span.waited);
  if (filling_left_ > 0 || idle_from < filled_) return Sink::repeat(r);
  sums_.reset();
  const auto times = static_cast<double>(r.times);
  for (std::size_t i = 0; i < r.spans.size(); ++i) {
    const Span& span = r.spans[i];
    const Place& place = places_[span.action];
    actions_[span.action].executions += r.times;
    actions_[span.action].seconds.add((span.end - span.start) * times);
    Stream& stream = streams_[place.stream];
    stream.spans += r.times;
    const Span last = r.span(i, r.times);
    stream.last_end = std::max(stream.last_end, last.end);
    if (waits_for_transfer(span)) stream.exposed_s.add(span.waited * times);
    makespan_ = std::max(makespan_, last.available);
    complete_iterations(r, span);
  }
}

/// A span may stand for repetitions in later iterations. If one of the repetitions is in the first step, in the middle
/// iteration or in the last iteration, records when its data have arrived, as complete() does for a single span.
void Totals::complete_iterations(const Repetition& r, const Span& span) {
  const std::int64_t first = first_ - places_[span.action].ahead;
  for (auto [iteration, complete] :
       {std::pair(first, &first_complete_), std::pair(middle_, &middle_complete_),
        std::pair(last_, &last_complete_)}) {
    const std::int64_t later = iteration - span.iteration;
    if (later <= 0 || later % r.iterations != 0 || later / r.iterations > r.times) continue;
    const double available = span.available + static_cast<double>(later / r.iterations) * r.seconds;
    *complete = std::max(complete->value_or(0), available);
  }
}

void Totals::memory(const MemoryEvent& event) {
  Pool& pool = pools_[event.pool];
  pool.level[static_cast<std::size_t>(plan_.tensors[event.tensor].tensor_class)] += event.delta;
  if (event.level <= pool.peak_bytes) return;
  pool.peak_bytes = event.level;
  pool.peak_time = event.time;
  pool.at_peak = pool.level;
}

Totals::Sums Totals::add_up() const {
  Sums sums;
  sums.stream_busy_s.resize(plan_.streams.size());
  sums.stream_joules.resize(plan_.streams.size());
  sums.link_transfer_s.resize(plan_.links.size());
  sums.link_bytes.resize(plan_.links.size());
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    const sluice::Action& action = plan_.actions[a];
    const auto executions = static_cast<double>(actions_[a].executions);
    const double seconds = actions_[a].seconds.value();
    sums.stream_busy_s[action.stream] += seconds;
    sums.stream_joules[action.stream] += executions * action.joules;
    sums.samples += executions * static_cast<double>(action.samples_done);
    sums.flop += executions * action.flop;
    sums.measured_s += executions * action.measured_s;
    if (plan_.streams[action.stream].kind == StreamKind::compute) sums.compute_s += seconds;
    if (action.kind == ActionKind::recompute) sums.recompute_s += seconds;
    if (action.is_transfer()) sums.transfer_s += seconds;
    for (const Flow& flow : action.flows)
      add_flow(sums, action, flow, executions,
               action.is_transfer() ? seconds : executions * seconds_alone(plan_, flow));
  }
  return sums;
}

void Totals::add_flow(Sums& sums, const sluice::Action& action, const Flow& flow, double executions,
                      double seconds) const {
  const double bytes = executions * static_cast<double>(flow.bytes);
  sums.transferred_bytes += bytes;
  for (const std::uint32_t link : plan_.routes[flow.route].links) {
    sums.link_transfer_s[link] += seconds;
    sums.link_bytes[link] += bytes;
  }
  if (flow.tensor == none) return;
  const auto tensor_class = static_cast<std::size_t>(plan_.tensors[flow.tensor].tensor_class);
  sums.class_bytes[tensor_class] += bytes;
  if (action.is_transfer()) sums.class_transfer_s[tensor_class] += seconds;
}

bool Totals::complete() const {
  for (std::uint32_t a = 0; a < actions_.size(); ++a)
    if (actions_[a].executions != plan_.executions_of(a)) return false;
  return true;
}

const Totals::Sums& Totals::sums() const {
  if (!sums_) sums_ = add_up();
  return *sums_;
}

const Bound& Totals::bound() const {
  if (!bound_) bound_ = lower_bound(plan_);
  return *bound_;
}

}  // namespace sluice
