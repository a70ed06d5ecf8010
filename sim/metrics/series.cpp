#include "metrics/series.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/interrupt.hpp"

namespace sluice {

namespace {

double link_joules(const Plan& plan, const Action& action) {
  double joules = 0;
  for (const Flow& flow : action.flows)
    for (const std::uint32_t number : plan.routes[flow.route].links) {
      const Link& link = plan.links[number];
      joules += (link.busy_w - link.idle_w) * static_cast<double>(flow.bytes) / link.bandwidth;
    }
  return joules;
}

bool has_watts(const Plan& plan) {
  const auto has = [](const auto& powered) { return powered.has_watts(); };
  return std::any_of(plan.streams.begin(), plan.streams.end(), has) ||
         std::any_of(plan.links.begin(), plan.links.end(), has) ||
         std::any_of(plan.actions.begin(), plan.actions.end(),
                     [](const Action& action) { return action.joules != 0; });
}

}  // namespace

SeriesSink::SeriesSink(const Plan& plan, double width)
    : plan_(plan),
      most_bins_(std::clamp<std::size_t>(250'000 / (plan.streams.size() + 3), 100, 10'000)),
      width_(width > 0 && std::isfinite(width) ? width : 1e-6),
      per_second_(1 / width_),
      busy_(plan.streams.size(), Bins(most_bins_)),
      samples_(most_bins_),
      recompute_(most_bins_),
      dynamic_(most_bins_) {
  for (const Stream& stream : plan.streams) idle_w_ += stream.idle_w;
  for (const Link& link : plan.links) idle_w_ += link.idle_w;
  effects_.reserve(plan.actions.size());
  for (const Action& action : plan.actions)
    effects_.push_back({action.joules + link_joules(plan, action),
                        static_cast<double>(action.samples_done), action.stream,
                        action.kind == ActionKind::recompute});
}

void SeriesSink::reach(double time) {
  end_ = std::max(end_, time);
  while (time * per_second_ >= static_cast<double>(most_bins_)) {
    const auto halve = [this](Bins& bins) {
      for (std::size_t i = 0; i < most_bins_; ++i) {
        const double pair = 2 * i < most_bins_ ? bins[2 * i] : 0;
        bins[i] = pair + (2 * i + 1 < most_bins_ ? bins[2 * i + 1] : 0);
      }
    };
    for (Bins& bins : busy_) halve(bins);
    for (Bins* bins : {&samples_, &recompute_, &dynamic_}) halve(*bins);
    width_ *= 2;
    per_second_ = 1 / width_;
  }
}

void SeriesSink::spread(Bins& bins, double start, double end, double amount) {
  auto bin = std::min(static_cast<std::size_t>(start * per_second_), most_bins_ - 1);
  const auto last = std::min(static_cast<std::size_t>(end * per_second_), most_bins_ - 1);
  if (bin == last) {
    bins[bin] += amount;
    return;
  }
  const double rate = amount / (end - start);
  double from = start;
  for (; bin < last; ++bin) {
    const double border = static_cast<double>(bin + 1) * width_;
    bins[bin] += rate * (border - from);
    from = border;
  }
  bins[last] += rate * (end - from);
}

void SeriesSink::span(const Span& span) {
  const Effect& effect = effects_[span.action];
  if (span.available > end_) reach(span.available);
  const double seconds = span.end - span.start;
  spread(busy_[effect.stream], span.start, span.end, seconds);
  if (effect.joules != 0) spread(dynamic_, span.start, span.end, effect.joules);
  if (effect.recompute) spread(recompute_, span.start, span.end, seconds);
  if (effect.samples != 0) spread(samples_, span.available, span.available, effect.samples);
}

void SeriesSink::repeat(const Repetition& r) {
  if (!r.is_folded() || r.times <= static_cast<std::int64_t>(most_bins_)) return Sink::repeat(r);
  const double last = static_cast<double>(r.times) * r.seconds;
  for (const Span& span : r.spans)
    if (span.available + last > end_) reach(span.available + last);
  for (const Span& span : r.spans) {
    check_interrupt();
    const Effect& effect = effects_[span.action];
    const double seconds = span.end - span.start;
    spread_again(busy_[effect.stream], r, span.start, span.end, seconds);
    if (effect.joules != 0) spread_again(dynamic_, r, span.start, span.end, effect.joules);
    if (effect.recompute) spread_again(recompute_, r, span.start, span.end, seconds);
    if (effect.samples != 0)
      spread_again(samples_, r, span.available, span.available, effect.samples);
  }
}

void SeriesSink::spread_again(Bins& bins, const Repetition& r, double start, double end,
                              double amount) {
  const auto times = static_cast<double>(r.times);
  const auto before = [&](double time) {  // the sum of what all repetitions add before `time`
    const double whole = std::clamp(std::floor((time - end) / r.seconds), 0.0, times);
    if (whole == times || end == start) return amount * whole;
    const double begun = time - (start + (whole + 1) * r.seconds);
    return amount * (whole + std::clamp(begun / (end - start), 0.0, 1.0));
  };
  const auto bin_of = [&](double time) {
    return std::min(static_cast<std::size_t>(time * per_second_), most_bins_ - 1);
  };
  const std::size_t last = bin_of(end + times * r.seconds);
  double so_far = 0;
  for (std::size_t bin = bin_of(start + r.seconds); bin <= last; ++bin) {
    const double until =
        bin == last ? amount * times : before(static_cast<double>(bin + 1) * width_);
    bins[bin] += until - so_far;
    so_far = until;
  }
}

double SeriesSink::length(std::size_t bin) const {
  return std::min(width_, end_ - static_cast<double>(bin) * width_);
}

SeriesTable::Series SeriesSink::cumulative(const Bins& bins, std::size_t count) const {
  SeriesTable::Series series;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) series.values.push_back(sum += bins[i]);
  // An event at the end of the run falls into bin `count`, which is not shown. So its amount is added to the last bin.
  if (count > 0 && count < bins.size()) series.values.back() += bins[count];
  return series;
}

SeriesTable SeriesSink::table() const {
  SeriesTable table;
  table.width = width_;
  // If the last bin exists only because of rounding, leaves it out.
  const auto count = std::min<std::size_t>(
      most_bins_, static_cast<std::size_t>(std::ceil(end_ * per_second_ * (1 - 1e-12))));
  for (std::size_t i = 0; i < count; ++i)
    table.time.push_back(i + 1 == count ? end_ : static_cast<double>(i + 1) * width_);

  table.utilisation.reserve(busy_.size() * count);
  for (const Bins& busy : busy_)
    for (std::size_t i = 0; i < count; ++i)
      table.utilisation.push_back(std::clamp(busy[i] / length(i), 0.0, 1.0));
  const auto add = [&](SeriesTable::Series series, const char* name, const char* unit,
                       const char* summary) {
    series.name = name;
    series.unit = unit;
    series.summary = summary;
    table.series.push_back(std::move(series));
  };
  add(cumulative(samples_, count), "samples_done", "sample", "samples complete so far");
  add(cumulative(recompute_, count), "recompute_s", "s", "the seconds of recomputation so far");
  if (!has_watts(plan_)) return table;
  SeriesTable::Series watts;
  for (std::size_t i = 0; i < count; ++i) watts.values.push_back(idle_w_ + dynamic_[i] / length(i));
  add(std::move(watts), "power_w", "W", "the mean power of devices and links in the bin");
  return table;
}

}  // namespace sluice
