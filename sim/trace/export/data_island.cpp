// Writes the results of a run as a table for a web page: a table of the metrics, or a table of the stages. The form of
// the table comes from the document 'AlexNet on one card' (analysis/validation/alexnet_on_one_card.md).
#include <algorithm>
#include <map>

#include "base/interrupt.hpp"
#include "base/suggest.hpp"
#include "trace/export/export.hpp"
#include "trace/export/text.hpp"
#include "trace/export/timeline.hpp"

namespace sluice {
namespace {

using Row = std::vector<std::string>;  ///< the cells of a row, as JSON texts

/// Returns one row per number. A metric with keys has one row per key. An absent number is null.
std::vector<Row> metrics(const Summary& summary) {
  std::vector<Row> rows = {{"\"metric\"", "\"key\"", "\"value\"", "\"unit\""}};
  for (const Summary::Metric& metric : summary.metrics) {
    const auto add = [&](const std::string& key, std::string value) {
      rows.push_back(
          {json_string(metric.name), json_string(key), std::move(value), json_string(metric.unit)});
    };
    switch (metric.value.kind) {
      case SummaryValue::Kind::number:
        add("", json_number_text(metric.value.number));
        break;
      case SummaryValue::Kind::text:
        add("", json_string(metric.value.text));
        break;
      case SummaryValue::Kind::keyed:
        for (const SummaryValue::Keyed& keyed : metric.value.keyed) {
          add(join(keyed.key, "/"), json_number_text(keyed.number));
        }
    }
  }
  return rows;
}

/// The sums over all executed actions of a stage.
struct StageSums {
  double computations = 0, compute_s = 0, flop = 0;
  double transfers = 0, transfer_s = 0, bytes = 0;
};

/// Returns the sums of each stage, by the number of the stage. The key -1 has the sums of all actions that belong to no
/// stage.
std::map<std::int32_t, StageSums> sums_of(const TraceReader& trace) {
  const Labels& labels = trace.labels();
  std::map<std::int32_t, StageSums> sums;
  for (std::size_t i = 0; i < labels.stages.size(); ++i) sums[static_cast<std::int32_t>(i)];
  trace.spans([&](const std::vector<Span>& block) {
    check_interrupt();
    for (const Span& span : block) {
      const Labels::Action& action = labels.actions[span.action];
      StageSums& sum = sums[std::max(action.stage, -1)];
      const bool computes = labels.streams[action.stream].kind == "compute";
      (computes ? sum.computations : sum.transfers) += 1;
      (computes ? sum.compute_s : sum.transfer_s) += span.end - span.start;
      sum.flop += action.flop;
      sum.bytes += static_cast<double>(action.bytes);
    }
  });
  return sums;
}

std::string stage_name(const Labels& labels, std::int32_t stage) {
  if (stage < 0) return "(no stage)";
  const auto number = static_cast<std::size_t>(stage);
  return number < labels.stages.size() ? labels.stages[number] : std::to_string(stage);
}

/// Returns one row per stage, with running totals as in the table of 'AlexNet on one card'.
std::vector<Row> stages(const TraceReader& trace) {
  std::vector<Row> rows = {{"\"step\"", "\"stage\"", "\"computations\"", "\"compute s\"",
                            "\"total compute s\"", "\"FLOP\"", "\"total FLOP\"", "\"transfers\"",
                            "\"transfer s\"", "\"total transfer s\"", "\"bytes\"",
                            "\"total bytes\""}};
  StageSums total;
  for (const auto& [stage, sum] : sums_of(trace)) {
    total.compute_s += sum.compute_s;
    total.flop += sum.flop;
    total.transfer_s += sum.transfer_s;
    total.bytes += sum.bytes;
    Row row = {std::to_string(rows.size()), json_string(stage_name(trace.labels(), stage))};
    for (const double number :
         {sum.computations, sum.compute_s, total.compute_s, sum.flop, total.flop, sum.transfers,
          sum.transfer_s, total.transfer_s, sum.bytes, total.bytes})
      row.push_back(json_number_text(number));
    rows.push_back(std::move(row));
  }
  return rows;
}

void write_data_island(const TraceReader& trace, const std::string& table, const Write& write) {
  write(data_island(table == "stages" ? stages(trace) : metrics(trace.summary())));
}

}  // namespace

extern const ExportFormat data_island_export = {
    .name = "data-island",
    .summary =
        "Writes a table as JSON for a web page. The table has the metrics, or the stages with their sums.",
    .source = "AlexNet on one card",
    .tables = {"metrics", "stages"},
    .write = write_data_island,
};

}  // namespace sluice
