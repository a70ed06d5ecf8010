// The command `sluice export` converts a trace to formats of other programs.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/interrupt.hpp"
#include "base/part_file.hpp"
#include "base/processes.hpp"
#include "study/trace_export.hpp"

#include "command/command.hpp"
#include "command/output.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

/// Returns a note if the run in the trace did not complete.
std::string note_of(const TraceReader& trace) {
  if (trace.status() == TraceStatus::complete) return {};
  return "note: the run was " + std::string(name_of(trace.status())) +
         "; the trace has the actions that were executed";
}

/// Converts the trace in a child process. If a malicious file crashes HDF5, only the child ends. If the run in the
/// trace did not complete, returns a note for the user.
std::string convert(const std::string& path, const ExportFormat& format, const std::string& table,
                    PartFile* part) {
  try {
    return run_isolated([&] {
      const TraceReader trace(path);
      if (part) {
        part->write({});  // This call makes the file even if the export is empty.
        export_trace(trace, format, table, [&](std::string_view text) { part->write(text); });
      } else {
        export_trace(trace, format, table, print);
      }
      return note_of(trace);
    });
  } catch (const InternalError& error) {
    if (says_out_of_memory(error.what())) throw;
    throw InputError("'" + path + "' is damaged: reading it failed (" + error.what() +
                     "); write the trace again with 'sluice run -o'");
  }
}

const ExportFormat& format_of(const Arguments& arguments) {
  if (!arguments.has("to"))
    throw UsageError("'--to' is missing; give one of " + join(export_catalog().names()) +
                     "\nSee 'sluice help export'.");
  return export_catalog().find(arguments.text("to"));
}

std::string table_of(const Arguments& arguments, const ExportFormat& format) {
  if (format.tables.empty()) {
    if (arguments.has("table"))
      throw UsageError("'--table' is only for '--to data-island'; remove it for '" + format.name +
                       "'");
    return {};
  }
  return arguments.text("table", format.tables.front());
}

int run_export(const Arguments& arguments) {
  const std::string& path = arguments.positionals.front();
  const ExportFormat& format = format_of(arguments);
  const std::string table = table_of(arguments, format);
  const std::string output = arguments.text("output");
  if (output.empty() && format.binary && isatty(STDOUT_FILENO) != 0)
    throw UsageError("'" + format.name + "' output is binary: write it to a file with -o FILE");
  std::error_code ignored;
  if (!output.empty() && std::filesystem::equivalent(path, output, ignored))
    throw UsageError("'" + output + "' for '--output' is the trace itself; give another name");
  refuse_to_replace(arguments, output, Output::exported);
  std::unique_ptr<PartFile> part;
  if (!output.empty()) part = std::make_unique<PartFile>(output);
  const std::string note = convert(path, format, table, part.get());
  // convert() works in a child process. A signal may have reached this process, but not that child. Then this call
  // throws Interrupted.
  check_interrupt();
  if (part) part->commit();
  if (!note.empty()) message("sluice: " + note);
  return 0;
}

}  // namespace

extern const Command export_command = {
    .name = "export",
    .summary =
        "Writes a trace in the format of another program, as a timeline, as rows or as a table.",
    .usage = {"TRACE --to perfetto|chrome|csv [-o FILE] [--force]",
              "TRACE --to data-island [--table metrics|stages|layers] [-o FILE] [--force]"},
    .least = 1,
    .most = 1,
    .positionals = "TRACE",
    .options = {{.name = "to",
                 .value = "FORMAT",
                 .summary = "the format",
                 .names = [] { return export_catalog().names(); }},
                {.name = "table",
                 .value = "TABLE",
                 .summary = "the table that the data island contains",
                 .absent = "metrics",
                 .choices = {"metrics", "stages", "layers"}},
                {.name = "output",
                 .letter = 'o',
                 .value = "FILE",
                 .summary = "the file to write",
                 .absent = "standard output"},
                force_option(Output::exported)},
    .details =
        "perfetto      a timeline. Drag the file into https://ui.perfetto.dev\n"
        "chrome        a timeline as JSON, for chrome://tracing, Perfetto and Speedscope\n"
        "csv           one row per span (RFC 4180)\n"
        "data-island   a table as JSON for a web page: {\"func\": \"quick_plot\", \"data\": [...]}.\n"
        "              The table has the metrics, the sums over each stage, or the layers. With\n"
        "              --table layers, it is a stage table, which `sluice model` reads\n\n"
        "A timeline has a process per device, a track per stream, and a counter per memory. An\n"
        "arrow leads from an action to each action that waited for the data of the first one. If\n"
        "more than 131072 spans end between the two actions, there is no arrow. Times are rounded\n"
        "to the nanosecond.\n",
    .examples = {{"sluice run alexnet_x200 -o trace.h5", "a trace"},
                 {"sluice export trace.h5 --to perfetto -o trace.pftrace",
                  "a timeline of this trace"},
                 {"sluice export trace.h5 --to csv -o spans.csv", "one row per span"}},
    .run = run_export,
};

}  // namespace sluice
