#include "command/show/picture.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "command/groups.hpp"
#include "command/table.hpp"
#include "document/load.hpp"
#include "plan/text.hpp"

#include "command/terminal.hpp"

namespace sluice {
namespace {

// The greatest number of streams or pools that are drawn. Streams or pools beyond this number are only counted.
constexpr std::size_t most_rows = 32;
constexpr std::size_t most_causes = 8;

std::string question_of(const TraceReader& trace) {
  if (trace.header().scenario.empty()) return "";
  try {
    const Value document = parse_text(trace.header().scenario, "scenario");
    const Value* question = document.find("question");
    return question && question->is_scalar() ? question->text() : "";
  } catch (const InputError&) {
    return "";  // Another program may have written the trace, with a scenario that Sluice cannot read.
  }
}

/// Returns the plan's name and its facts, which are the decisions of the policy. Both are in the first lines of the
/// plan's text.
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
  text += complete ? ": " : ": the run did not reach its end; the picture shows the part until ";
  return text + format_seconds(activity.end_s) + ", " +
         grouped(static_cast<std::int64_t>(trace.span_count())) + " spans\n";
}

/// Divides the time of the run into `columns` equal pieces. Returns how busy a stream is in each piece, as a share of
/// the piece. `values` has one number per bin of `table`: the share of the bin in which the stream is busy.
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

/// Draws one character per piece of time. A fuller block means a busier stream.
std::string strip(const std::vector<double>& shares) {
  static const std::vector<std::string> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const std::vector<std::string> letters = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
  const std::vector<std::string>& marks = utf8_wanted() ? blocks : letters;
  std::string text;
  for (const double share : shares) {
    const double clipped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
    // A piece with little work still gets a visible block. Only a piece that is busy all the time gets a full block.
    std::size_t level = static_cast<std::size_t>(std::ceil(clipped * 8 - 1e-6));
    if (level == 8 && clipped < 0.9999) level = 7;
    text += marks[level];
  }
  return text;
}

/// Returns the devices in the order of their streams.
std::vector<std::string> devices_of(const TraceReader& trace) {
  std::vector<std::string> devices;
  for (const Labels::Stream& stream : trace.labels().streams)
    if (std::find(devices.begin(), devices.end(), stream.device) == devices.end())
      devices.push_back(stream.device);
  return devices;
}

/// Returns the rows to draw, each with a name and a picture. Rows of equal devices become one row.
LabelledRows drawn_rows(LabelledRows rows, const TraceReader& trace) {
  return grouped_by_device(rows, devices_of(trace));
}

std::string cut_to(const std::string& name, std::size_t columns) {
  const std::string text = printable(name);
  return columns_of(text) <= columns ? text : text.substr(0, columns - 2) + "..";
}

constexpr std::size_t widest_name = 30;

std::string picture_rows(const LabelledRows& rows, const std::string& what,
                         std::size_t name_width) {
  LabelledRows drawn;
  for (std::size_t r = 0; r < std::min(rows.size(), most_rows); ++r)
    drawn.emplace_back(cut_to(rows[r].first, name_width), rows[r].second);
  const std::string text =
      rows_text(drawn, {.indent = "  ", .label_columns = name_width, .page = 0});
  if (rows.size() <= most_rows) return text;
  return text + "  ... (" + std::to_string(rows.size()) + " " + what + ")\n";
}

std::string edge() {
  return utf8_wanted() ? "│" : "|";
}

LabelledRows stream_rows(const TraceReader& trace, const Activity& activity, std::size_t columns) {
  const SeriesTable table = trace.series();
  const std::vector<Labels::Stream>& streams = trace.labels().streams;
  LabelledRows rows;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const std::vector<double> shares =
        resampled(table, table.utilisation_of(s), activity.end_s, columns);
    const double total = activity.end_s > 0 ? activity.streams[s].busy_s / activity.end_s : 0;
    rows.emplace_back(streams[s].name,
                      edge() + coloured(strip(shares), streams[s].kind == "compute" ? 32 : 34) +
                          edge() + padded_left(percent(total), 9));
  }
  return drawn_rows(std::move(rows), trace);
}

/// Draws the rows of memories. Equal devices share a row, which has the time of the first device's peak.
LabelledRows memory_rows(const TraceReader& trace) {
  constexpr char between = '\2';
  const std::vector<Labels::Pool>& pools = trace.labels().pools;
  std::vector<std::string> texts, levels, times;
  for (std::uint32_t p = 0; p < pools.size(); ++p) {
    const HighWater high = high_water_of(trace, p);
    std::vector<std::string> parts;
    for (const auto& [name, amount] : high.classes)
      parts.push_back(name + " " + format_bytes(amount));
    std::string text;
    if (pools[p].capacity > 0) {
      const double share = static_cast<double>(high.peak) / static_cast<double>(pools[p].capacity);
      text = edge() + coloured(bar(share, 20), share > 1 ? 31 : 33) + edge() + " " +
             format_bytes(high.peak) + " of " + format_bytes(pools[p].capacity) + " (" +
             percent(share) + ")";
    } else {
      text = padded("", 22) + " " + format_bytes(high.peak) + ", no limit";
    }
    levels.push_back(text);
    const std::string classes = printable(join(parts));
    times.push_back(parts.empty() ? "" : " at " + format_seconds(high.time) + ": " + classes);
    texts.push_back(pools[p].name + between + text + between + classes);
  }
  LabelledRows rows;
  for (const DeviceGroup& group : groups_by_device(texts, devices_of(trace))) {
    const std::size_t first = group.members.front();
    rows.emplace_back(group.text.substr(0, group.text.find(between)), levels[first] + times[first]);
  }
  return rows;
}

std::size_t width_of(const LabelledRows& rows) {
  std::size_t widest = 8;
  for (const auto& [name, drawn] : rows) widest = std::max(widest, columns_of(name));
  return std::min(widest, widest_name);
}

/// Draws streams and memories, with their names in one column.
std::string rows_of_streams_and_memories(const TraceReader& trace, const Activity& activity,
                                         std::size_t width) {
  const LabelledRows memories = memory_rows(trace);
  std::size_t name_width = std::max(width_of(stream_rows(trace, activity, 10)), width_of(memories));
  const std::size_t columns = std::max<std::size_t>(10, width - std::min(width, name_width + 15));
  const LabelledRows streams = stream_rows(trace, activity, columns);
  name_width = std::max(name_width, width_of(streams));
  const std::string axis = "0" + padded_left(format_seconds(activity.end_s), columns);
  return "\n" + bold("Busy, by stream") + "\n" + picture_rows(streams, "streams", name_width) +
         picture_rows({{"", axis}}, "", name_width) + "\n" + bold("Memory, high-water mark") +
         "\n" + picture_rows(memories, "memories", name_width);
}

std::string causes_text(const Activity& activity) {
  std::string text = "\n" + bold("Where compute waited") + "\n";
  if (activity.compute_span_s == 0) return text + "  nothing was computed\n";
  if (activity.wait_totals.empty()) return text + "  nowhere: compute was always busy\n";
  TextTable table{.columns = {right("waited"), right("of compute"), left("for"), right("times")},
                  .rows = {}};
  for (std::size_t c = 0; c < std::min(activity.wait_totals.size(), most_causes); ++c) {
    const Activity::WaitTotal& wait = activity.wait_totals[c];
    table.rows.push_back({format_seconds(wait.seconds),
                          percent(wait.seconds / activity.compute_span_s), printable(wait.what),
                          grouped(wait.times)});
  }
  text += indented(table.aligned(0));
  if (activity.wait_totals.size() > most_causes)
    text += "  ... (" + std::to_string(activity.wait_totals.size()) + " causes)\n";
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
  return header_text(trace, activity) + rows_of_streams_and_memories(trace, activity, width) +
         causes_text(activity) + metrics_text(trace);
}

}  // namespace sluice
