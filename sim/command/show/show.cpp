// The command `sluice show` draws a trace as a picture in the terminal.
#include <algorithm>

#include "base/interrupt.hpp"
#include "base/processes.hpp"

#include "command/command.hpp"
#include "command/page.hpp"
#include "command/show/picture.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

/// Draws the trace in a child process: if a malicious file crashes HDF5, only the child ends.
std::string draw(const std::string& path, std::size_t width) {
  try {
    return run_isolated([&] {
      const TraceReader trace(path);
      return picture_of(trace, width);
    });
  } catch (const InternalError& error) {
    if (says_out_of_memory(error.what())) throw;
    throw InputError("'" + path + "' is damaged: reading it failed (" + error.what() +
                     "); write the trace again with 'sluice run -o'");
  }
}

int run_show(const Arguments& arguments) {
  const std::int64_t otherwise = page_width() > 0 ? static_cast<std::int64_t>(page_width()) : 100;
  const auto width = static_cast<std::size_t>(
      arguments.integer("width", std::clamp<std::int64_t>(otherwise, 40, 1000), 40, 1000));
  const std::size_t page = arguments.has("width") ? width : page_width();
  print(folded(draw(arguments.positionals.front(), width), page));
  return 0;
}

}  // namespace

extern const Command show_command = {
    .name = "show",
    .summary =
        "Draws a trace: when each stream was busy, how full the memories were, and what compute waited for.",
    .usage = {"TRACE [--width N]"},
    .least = 1,
    .most = 1,
    .positionals = "TRACE",
    .options = {{.name = "width",
                 .value = "N",
                 .summary = "the number of columns, from 40 to 1000",
                 .absent = "the terminal's width, or 100"}},
    .details =
        "Busy, by stream: one row per stream, one column per piece of time. A fuller block means a busier\n"
        "stream. A full block means that the stream was busy all the time. A percentage is the busy time\n"
        "of a stream divided by the time of the whole run.\n\n"
        "Where compute waited: how long compute streams were idle. Each row is a cause: the action\n"
        "or the memory for which a stream waited last. A request for a device's memory may\n"
        "overtake earlier requests of the plan only if these requests still fit, too. So an action\n"
        "may wait for memory although its own bytes would fit.\n",
    .examples = {{"sluice run alexnet_x200 -o trace.h5 && sluice show trace.h5", "the picture"}},
    .run = run_show,
};

}  // namespace sluice
