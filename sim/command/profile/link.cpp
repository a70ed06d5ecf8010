// The command `sluice profile link` makes a platform's link from measured copies.
#include "base/figures.hpp"
#include "base/part_file.hpp"
#include "base/quantity.hpp"
#include "command/output.hpp"
#include "command/profile/subcommands.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "profile/link_fit.hpp"

namespace sluice {
namespace {

/// Returns the number of queued copies plus the number of single copies.
std::size_t copies_of(const LinkDirection& one) {
  return one.fit.rows + (one.single ? one.single->rows : 0);
}

std::string table_of(const std::vector<LinkDirection>& directions) {
  TextTable table{
      .columns = {left("direction"), left("memory"), right("copies"), right("bandwidth"),
                  right("set-up"), right("latency"), right("off by"), right("at most")},
      .rows = {}};
  for (const LinkDirection& one : directions)
    table.rows.push_back({one.direction, one.memory, std::to_string(copies_of(one)),
                          format_quantity(one.fit.bandwidth, Dimension::bytes_per_s),
                          format_seconds(one.setup_s()),
                          one.single ? format_seconds(one.latency_s()) : "-",
                          percent(one.fit.median_error), percent(one.fit.worst_error)});
  return table.aligned();
}

Value direction_json(const LinkDirection& one) {
  return object({{"direction", one.direction},
                 {"memory", one.memory},
                 {"copies", copies_of(one)},
                 {"bandwidth_bytes_per_s", one.fit.bandwidth},
                 {"setup_s", one.setup_s()},
                 {"latency_s", one.single ? Item(one.latency_s()) : Item(nullptr)},
                 {"median_error", one.fit.median_error},
                 {"worst_error", one.fit.worst_error}});
}

int run_link(const Arguments& arguments) {
  if (arguments.has("platform") && arguments.has("device"))
    throw UsageError(
        "'--device' names one end of a new link, but with '--platform' the link keeps its ends: "
        "remove --device or --platform");
  const Profile profile = read_profile(arguments, arguments.positionals.front());
  const std::vector<LinkDirection> directions = fit_link(profile);
  const Value document = link_document(directions, arguments.text("link", "host"),
                                       arguments.text("device", "gpu"), arguments.text("platform"));
  if (arguments.has("json")) {
    print(to_json(object({{"format", "sluice-link-fit/1"},
                          {"directions", list_of(directions, direction_json)},
                          {"document", document}})));
    return 0;
  }
  const bool writes = arguments.has("output");
  if (writes) {
    refuse_to_replace(arguments, arguments.text("output"), Output::document);
    write_file(arguments.text("output"), to_yaml(document));
  }
  print(table_of(directions) + (writes ? "" : "\n" + to_yaml(document)));
  bool told_apart = false;
  for (const LinkDirection& one : directions) told_apart = told_apart || one.single;
  if (!told_apart)
    message(
        "sluice: latency and set-up cannot be told apart, so the whole time at 0 bytes counts as set-up. To tell them "
        "apart, measure single copies and queued copies (method: queued) in one direction");
  return 0;
}

std::vector<Option> options() {
  std::vector<Option> all = reading_options();
  const std::vector<Option> own = {
      {.name = "platform",
       .value = "PLATFORM",
       .summary =
           "replace the link of this platform. The answer is then the platform's whole document",
       .suggested = [] { return bundled_names("platforms"); }},
      {.name = "link", .value = "NAME", .summary = "the link's name", .absent = "host"},
      {.name = "device",
       .value = "NAME",
       .summary =
           "the device that the link joins to the host. With --platform, the link keeps its own device",
       .absent = "gpu"},
      {.name = "output",
       .letter = 'o',
       .value = "FILE",
       .summary = "the file to write",
       .absent = "printed"},
      force_option(Output::document),
      {.name = "json", .summary = "print the answer as JSON, with full precision"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

extern const Command profile_link_command = {
    .name = "profile link",
    .summary = "Makes a platform's link from copies that were measured.",
    .usage = {"PROFILE [--platform PLATFORM] [--link NAME] [-o FILE] [--json]"},
    .least = 1,
    .most = 1,
    .positionals = "PROFILE",
    .options = options(),
    .details =
        "The command uses rows whose operator is `copy`. Each row has the size bytes=N, and the two memories "
        "input_pools and output_pools. One of the two memories is `device`, and the other is `pinned` or `pageable` "
        "host memory. Copies that followed each other without a pause have method: queued. Bandwidth and set-up are "
        "fitted by least squares of relative errors. There is one fit for each direction and each kind of host memory. "
        "Latency is the difference between the times of a single copy and a queued copy, both of 0 bytes. "
        "analysis/measure/copies.py measures such rows with torch, and analysis/measure/copies.cu measures them with "
        "CUDA.\n",
    .examples = {{"sluice profile link copies.csv",
                  "the figures of the link, and the lines that describe it in a platform"},
                 {"sluice profile link copies.csv --platform a100_pcie -o mine.yaml",
                  "then: sluice run SCENARIO platform=mine.yaml"}},
    .run = run_link,
};

}  // namespace sluice
