// Writes spans as CSV (RFC 4180), with one row per span, in the order of their ends. Times are in seconds with all
// digits. A cell without a value is empty. The column `cause` has the number of another row, counted from 0 for the
// first row after the heading. This is the row of the span that ended the wait.
#include "base/csv.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "trace/export/export.hpp"
#include "trace/export/text.hpp"
#include "trace/export/timeline.hpp"

namespace sluice {
namespace {

constexpr std::string_view heading =
    "stream,device,action,kind,section,iteration,stage,stage_name,micro_batch,start_s,end_s,"
    "available_s,waited_s,reason,blocker,cause,bytes,flop\r\n";

std::string number_or_nothing(std::int32_t number) {
  return number < 0 ? "" : std::to_string(number);
}

/// The parts of a row that depend only on the action. `before` is the text before the cell `iteration`. `middle` is the
/// text between `iteration` and `start_s`. `after` is the text at the end of the row.
struct Cells {
  std::string before, middle, after;
};

Cells cells_of(const Labels& labels, const Labels::Action& action) {
  const Labels::Stream& stream = labels.streams[action.stream];
  Cells cells;
  for (const std::string& text :
       {stream.name, stream.device, action.name, action.kind, action.section})
    cells.before += csv_cell(text) + ",";
  cells.middle = "," + number_or_nothing(action.stage) + "," + csv_cell(stage_of(labels, action)) +
                 "," + number_or_nothing(action.micro_batch);
  cells.after = "," + std::to_string(action.bytes) + "," + exact(action.flop) + "\r\n";
  return cells;
}

void write_csv(const TraceReader& trace, const std::string&, const Write& write) {
  constexpr std::string_view reasons[] = {"none", "data", "memory"};
  const Labels& labels = trace.labels();
  std::vector<Cells> cells;
  for (const Labels::Action& action : labels.actions) cells.push_back(cells_of(labels, action));
  Outlet outlet(write);
  outlet.text() += heading;
  trace.spans([&](const std::vector<Span>& block) {
    check_interrupt();
    for (const Span& span : block) {
      const Cells& action = cells[span.action];
      std::string& out = outlet.text();
      out += action.before + std::to_string(span.iteration) + action.middle;
      for (const double time : {span.start, span.end, span.available, span.waited})
        out += "," + exact(time);
      out += ",";
      out += reasons[static_cast<std::size_t>(span.reason)];
      out += "," + csv_cell(blocker_of(labels, span)) + ",";
      if (span.cause >= 0) out += std::to_string(span.cause);
      out += action.after;
      outlet.pass();
    }
  });
  outlet.finish();
}

}  // namespace

extern const ExportFormat csv_export = {
    .name = "csv",
    .summary = "Writes one row per span, for spreadsheets.",
    .source = "RFC 4180",
    .write = write_csv,
};

}  // namespace sluice
