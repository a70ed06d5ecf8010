// Writes and reads the JSON text of a recording. This text contains everything in the recording except the columns.
#include <cmath>

#include "document/load.hpp"
#include "document/object.hpp"
#include "run/recording/columns.hpp"
#include "run/recording/recording.hpp"
#include "trace/summary_json.hpp"

namespace sluice {
namespace {

Value header_value(const TraceHeader& header) {
  return object({
      {"program_version", header.program_version},
      {"git_sha", header.git_sha},
      {"executor", header.executor},
      {"simgrid_version", header.simgrid_version},
      {"simgrid_settings", header.simgrid_settings},
      {"scenario", header.scenario},
      {"answer", header.answer},
  });
}

Value keyed_value(const SummaryValue::Keyed& keyed) {
  return list({list_of(keyed.key, json_text), keyed.number});
}

/// Returns a metric as the list [name, unit, summary, kind, value, reason]. If a metric has no value, `reason` says
/// why. Numbers are written with all their digits.
Value metric_value(const Summary::Metric& metric) {
  const SummaryValue& value = metric.value;
  const auto row = [&](const char* kind, Item content) {
    return list({metric.name, metric.unit, metric.summary, kind, std::move(content), value.absent});
  };
  switch (value.kind) {
    case SummaryValue::Kind::number:
      return row("number", value.number);
    case SummaryValue::Kind::text:
      return row("text", value.text);
    case SummaryValue::Kind::keyed:
      break;
  }
  return row("keyed", list_of(value.keyed, keyed_value));
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

std::string_view json_text_in(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < recording_head || bytes.substr(0, recording_magic.size()) != recording_magic)
    throw InternalError("this is not a recording");
  std::memcpy(&length, bytes.data() + recording_magic.size(), sizeof length);
  if (length > bytes.size() - recording_head) throw InternalError("a recording is cut short");
  return bytes.substr(recording_head, length);
}

Summary summary_of(std::string_view bytes) {
  Recording recording;
  read_recording_json(json_text_in(bytes), recording);
  return std::move(recording.summary);
}

std::string recording_json(const Recording& recording, const ColumnLayout& layout) {
  const auto series = [](const SeriesTable::Series& one) {
    return list({one.name, one.unit, one.summary});
  };
  const auto column = [](const ColumnPlace& place) {
    return list({place.name, place.type, place.rows, place.offset, place.bytes});
  };
  return to_json(object({
                     {"status", name_of(recording.status)},
                     {"header", header_value(recording.header)},
                     {"metrics", json_metrics(recording.summary)},
                     {"units", json_units(recording.summary)},
                     {"summary", list_of(recording.summary.metrics, metric_value)},
                     {"bin_width_s", recording.series.width},
                     {"series", list_of(recording.series.series, series)},
                     {"columns", list_of(layout.places(), column)},
                 }),
                 0);
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
  recording.header.answer = child(header, "answer").text();
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
