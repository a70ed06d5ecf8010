#include "command/show/picture.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "command/table.hpp"
#include "document/load.hpp"
#include "plan/text.hpp"

#include "command/figures.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

constexpr std::size_t most_rows = 32;  // of streams and pools; the rest is counted
constexpr std::size_t most_causes = 8;

std::string seconds(double value) {
  return format_quantity(value, Dimension::seconds);
}

std::string bytes(std::int64_t value) {
  return format_quantity(static_cast<double>(value), Dimension::bytes);
}

std::string question_of(const TraceReader& trace) {
  if (trace.header().scenario.empty()) return "";
  try {
    const Value document = parse_text(trace.header().scenario, "scenario");
    const Value* question = document.find("question");
    return question && question->is_scalar() ? question->text() : "";
  } catch (const InputError&) {
    return "";  // a trace of another maker: its scenario need not be ours
  }
}

/// The plan's name and facts, which stand at the head of its text.
std::string plan_words(const TraceReader& trace) {
  const std::string& text = trace.header().plan;
  const std::size_t tables = text.find("\npool ");
  try {
    const Plan head = plan_from_text(std::string_view(text).substr(0, tables), "plan");
    std::vector<std::string> facts;
    for (const Fact& fact : head.facts)
      if (facts.size() < most_causes) facts.push_back(fact.name + " " + fact.shown());
    return head.name + (facts.empty() ? "" : " (" + join(facts) + ")");
  } catch (const InputError&) {
    return "";
  }
}

std::string header_text(const TraceReader& trace, const Activity& activity) {
  std::string text;
  const std::string question = question_of(trace), plan = plan_words(trace);
  if (!question.empty()) text += bold(printable(question)) + "\n";
  if (!plan.empty()) text += printable(plan) + "\n";
  const std::string status(name_of(trace.status()));
  const bool complete = trace.status() == TraceStatus::complete;
  text += coloured(status, complete ? 32 : 31);
  text += complete ? ": " : ": the run did not reach its end; what follows is the part until ";
  return text + seconds(activity.end_s) + ", " +
         grouped(static_cast<std::int64_t>(trace.span_count())) + " spans\n";
}

/// The share of each of `columns` equal pieces of time that a series is busy.
std::vector<double> resampled(const SeriesTable& table, std::span<const double> values, double end,
                              std::size_t columns) {
  std::vector<double> busy(columns, 0);
  const double width = end / static_cast<double>(columns);
  double begin = 0;
  for (std::size_t bin = 0; bin < values.size() && width > 0; ++bin) {
    const double stop = std::min(table.time[bin], end);
    auto column = static_cast<std::size_t>(std::max(0.0, begin / width));
    for (; column < columns && static_cast<double>(column) * width < stop; ++column) {
      const double left = std::max(begin, static_cast<double>(column) * width);
      const double right = std::min(stop, static_cast<double>(column + 1) * width);
      if (right > left) busy[column] += values[bin] * (right - left) / width;
    }
    begin = stop;
  }
  return busy;
}

/// One character a piece of time: the fuller the block, the busier.
std::string strip(const std::vector<double>& shares) {
  static const std::vector<std::string> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const std::vector<std::string> letters = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
  const std::vector<std::string>& marks = utf8_wanted() ? blocks : letters;
  std::string text;
  for (const double share : shares) {
    const double clipped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
    // Busy at all is seen, and only full is full.
    std::size_t level = static_cast<std::size_t>(std::ceil(clipped * 8 - 1e-6));
    if (level == 8 && clipped < 0.9999) level = 7;
    text += marks[level];
  }
  return text;
}

std::size_t widest_name(const TraceReader& trace) {
  std::size_t widest = 8;
  for (const Labels::Stream& stream : trace.labels().streams)
    widest = std::max(widest, columns_of(stream.name));
  for (const Labels::Pool& pool : trace.labels().pools)
    widest = std::max(widest, columns_of(pool.name));
  return std::min<std::size_t>(widest, 30);
}

std::string cut_to(const std::string& name, std::size_t columns) {
  const std::string text = printable(name);
  return columns_of(text) <= columns ? padded(text, columns)
                                     : padded(text.substr(0, columns - 2) + "..", columns);
}

std::string utilisation_text(const TraceReader& trace, const Activity& activity,
                             std::size_t name_width, std::size_t width) {
  const SeriesTable table = trace.series();
  const std::vector<Labels::Stream>& streams = trace.labels().streams;
  const std::string edge = utf8_wanted() ? "│" : "|";
  const std::size_t columns = std::max<std::size_t>(10, width - std::min(width, name_width + 14));
  std::string text = "\n" + bold("Busy, by stream") + "\n";
  for (std::size_t s = 0; s < std::min(streams.size(), most_rows); ++s) {
    const std::vector<double> shares =
        resampled(table, table.utilisation_of(s), activity.end_s, columns);
    const double total = activity.end_s > 0 ? activity.streams[s].busy_s / activity.end_s : 0;
    text += "  " + cut_to(streams[s].name, name_width) + " " + edge +
            coloured(strip(shares), streams[s].kind == "compute" ? 32 : 34) + edge +
            padded(percent(total), 9, true) + "\n";
  }
  if (streams.size() > most_rows)
    text += "  ... (" + std::to_string(streams.size()) + " streams)\n";
  return text + "  " + std::string(name_width, ' ') + " 0" +
         padded(seconds(activity.end_s), columns, true) + "\n";
}

std::string memory_text(const TraceReader& trace, std::size_t name_width) {
  const std::vector<Labels::Pool>& pools = trace.labels().pools;
  std::string text = "\n" + bold("Memory, high-water mark") + "\n";
  for (std::uint32_t p = 0; p < std::min(pools.size(), most_rows); ++p) {
    const HighWater high = high_water_of(trace, p);
    std::vector<std::string> parts;
    for (const auto& [name, amount] : high.classes) parts.push_back(name + " " + bytes(amount));
    text += "  " + cut_to(pools[p].name, name_width) + " ";
    if (pools[p].capacity > 0) {
      const double share = static_cast<double>(high.peak) / static_cast<double>(pools[p].capacity);
      const std::string edge = utf8_wanted() ? "│" : "|";
      text += edge + coloured(bar(share, 20), share > 1 ? 31 : 33) + edge + " " + bytes(high.peak) +
              " of " + bytes(pools[p].capacity) + " (" + percent(share) + ")";
    } else {
      text += padded("", 22) + " " + bytes(high.peak) + ", no limit";
    }
    if (!parts.empty()) text += " at " + seconds(high.time) + ": " + printable(join(parts));
    text += "\n";
  }
  if (pools.size() > most_rows) text += "  ... (" + std::to_string(pools.size()) + " pools)\n";
  return text;
}

std::string causes_text(const Activity& activity) {
  std::string text = "\n" + bold("Where compute waited") + "\n";
  if (activity.compute_span_s == 0) return text + "  nothing was computed\n";
  if (activity.causes.empty()) return text + "  nowhere: it was always busy\n";
  for (std::size_t c = 0; c < std::min(activity.causes.size(), most_causes); ++c) {
    const Activity::Cause& cause = activity.causes[c];
    text += "  " + padded(seconds(cause.seconds), 10, true) +
            padded(percent(cause.seconds / activity.compute_span_s), 13, true) + "  for " +
            printable(cause.what) + ", " + grouped(cause.times) +
            (cause.times == 1 ? " time\n" : " times\n");
  }
  if (activity.causes.size() > most_causes)
    text += "  ... (" + std::to_string(activity.causes.size()) + " causes)\n";
  return text;
}

std::string metrics_text(const TraceReader& trace) {
  LabelledRows rows;
  for (const Summary::Metric& metric : trace.summary().metrics) {
    const SummaryValue& value = metric.value;
    if (value.kind == SummaryValue::Kind::keyed) continue;
    std::string written = value.kind == SummaryValue::Kind::text ? value.text
                          : std::isfinite(value.number)          ? figure(value.number, metric.unit)
                                                                 : "- (" + value.absent + ")";
    rows.emplace_back(printable(metric.name), printable(written));
  }
  return "\n" + bold("Metrics") + "\n" + rows_text(rows, {.indent = "  ", .label_columns = 25});
}

}  // namespace

std::string picture_of(const TraceReader& trace, std::size_t width) {
  const Activity activity = activity_of(trace);
  const std::size_t name_width = widest_name(trace);
  return header_text(trace, activity) + utilisation_text(trace, activity, name_width, width) +
         memory_text(trace, name_width) + causes_text(activity) + metrics_text(trace);
}

}  // namespace sluice
