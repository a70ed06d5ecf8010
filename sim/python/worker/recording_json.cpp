// The text of a recording: what is no column.
#include <cmath>

#include "document/load.hpp"
#include "python/worker/columns.hpp"
#include "python/worker/recording.hpp"
#include "study/json.hpp"

namespace sluice {
namespace {

Value count(std::size_t number) {
  return Value::make(static_cast<std::int64_t>(number));
}

Value list_of(std::initializer_list<Value> values) {
  Value list = Value::make_list();
  list.items() = values;
  return list;
}

Value header_value(const TraceHeader& header) {
  Value map = Value::make_map();
  map.set("program_version", json_text(header.program_version));
  map.set("git_sha", json_text(header.git_sha));
  map.set("executor", json_text(header.executor));
  map.set("simgrid_version", json_text(header.simgrid_version));
  map.set("simgrid_settings", json_text(header.simgrid_settings));
  map.set("scenario", json_text(header.scenario));
  return map;
}

/// Faithful, unlike what is printed: [name, unit, summary, kind, value, why it is absent].
Value metric_value(const Summary::Metric& metric) {
  const SummaryValue& value = metric.value;
  Value content;
  const char* kind = "number";
  if (value.kind == SummaryValue::Kind::number) {
    content = json_number(value.number);
  } else if (value.kind == SummaryValue::Kind::text) {
    kind = "text";
    content = json_text(value.text);
  } else {
    kind = "keyed";
    content = Value::make_list();
    for (const SummaryValue::Keyed& keyed : value.keyed) {
      Value key = Value::make_list();
      for (const std::string& step : keyed.key) key.items().push_back(json_text(step));
      content.items().push_back(list_of({std::move(key), json_number(keyed.number)}));
    }
  }
  return list_of({json_text(metric.name), json_text(metric.unit), json_text(metric.summary),
                  json_text(kind), std::move(content), json_text(value.absent)});
}

double number_of(const Value& value) {
  return value.kind() == Value::Kind::null ? std::nan("") : value.as_number();
}

Summary::Metric metric_from(const Value& row) {
  const std::vector<Value>& cells = row.items();
  Summary::Metric metric{cells.at(0).text(), cells.at(1).text(), cells.at(2).text(), {}};
  const std::string& kind = cells.at(3).text();
  const Value& content = cells.at(4);
  if (kind == "number") {
    metric.value.number = number_of(content);
  } else if (kind == "text") {
    metric.value = SummaryValue::of(content.text());
  } else {
    std::vector<SummaryValue::Keyed> keyed;
    for (const Value& pair : content.items()) {
      keyed.push_back({{}, number_of(pair.items().at(1))});
      for (const Value& step : pair.items().at(0).items()) keyed.back().key.push_back(step.text());
    }
    metric.value = SummaryValue::of(std::move(keyed));
  }
  metric.value.absent = cells.at(5).text();
  return metric;
}

TraceStatus status_from(const std::string& name) {
  for (const TraceStatus status :
       {TraceStatus::complete, TraceStatus::aborted, TraceStatus::failed})
    if (name == name_of(status)) return status;
  throw InternalError("unknown status '" + name + "' of a recording");
}

const Value& child(const Value& map, const char* key) {
  if (const Value* value = map.find(key)) return *value;
  throw InternalError(std::string("a recording has no '") + key + "'");
}

}  // namespace

std::string recording_json(const Recording& recording, const ColumnLayout& layout) {
  Value root = Value::make_map();
  root.set("status", json_text(name_of(recording.status)));
  root.set("header", header_value(recording.header));
  root.set("metrics", json_metrics(recording.summary));
  root.set("units", json_units(recording.summary));
  Value summary = Value::make_list();
  for (const Summary::Metric& metric : recording.summary.metrics)
    summary.items().push_back(metric_value(metric));
  root.set("summary", std::move(summary));
  root.set("bin_width_s", json_number(recording.series.width));
  Value series = Value::make_list();
  for (const SeriesTable::Series& one : recording.series.series)
    series.items().push_back(
        list_of({json_text(one.name), json_text(one.unit), json_text(one.summary)}));
  root.set("series", std::move(series));
  Value columns = Value::make_list();
  for (const ColumnPlace& place : layout.places())
    columns.items().push_back(
        list_of({json_text(place.name), json_text(place.type), count(place.rows),
                 count(place.offset), count(place.bytes)}));
  root.set("columns", std::move(columns));
  return to_json(root, 0);
}

std::vector<ColumnPlace> read_recording_json(std::string_view text, Recording& recording) {
  const Value root = parse_text(std::string(text), "recording.json");
  recording.status = status_from(child(root, "status").text());
  const Value& header = child(root, "header");
  recording.header.program_version = child(header, "program_version").text();
  recording.header.git_sha = child(header, "git_sha").text();
  recording.header.executor = child(header, "executor").text();
  recording.header.simgrid_version = child(header, "simgrid_version").text();
  recording.header.simgrid_settings = child(header, "simgrid_settings").text();
  recording.header.scenario = child(header, "scenario").text();
  for (const Value& row : child(root, "summary").items())
    recording.summary.metrics.push_back(metric_from(row));
  recording.series.width = child(root, "bin_width_s").as_number();
  for (const Value& row : child(root, "series").items()) {
    const std::vector<Value>& cells = row.items();
    recording.series.series.push_back(
        {cells.at(0).text(), cells.at(1).text(), cells.at(2).text(), {}});
  }
  std::vector<ColumnPlace> places;
  for (const Value& row : child(root, "columns").items()) {
    const std::vector<Value>& cells = row.items();
    const auto size = [&](std::size_t cell) {
      return static_cast<std::size_t>(cells.at(cell).as_integer());
    };
    places.push_back({cells.at(0).text(), cells.at(1).text(), size(2), size(3), size(4)});
  }
  return places;
}

}  // namespace sluice
