// The command `sluice placement` says for each tensor whether it should be in fast or in slow memory.
#include <algorithm>

#include "base/error.hpp"
#include "base/split.hpp"
#include "base/suggest.hpp"
#include "command/command.hpp"
#include "command/inputs.hpp"
#include "command/placement/report.hpp"

namespace sluice {
namespace {

std::vector<std::string> way_names() {
  std::vector<std::string> names;
  for (const PlacementWay& way : placement_ways()) names.push_back(way.name);
  return names;
}

HelpRows way_rows() {
  HelpRows rows;
  for (const PlacementWay& way : placement_ways()) rows.emplace_back(way.name, way.summary);
  return rows;
}

/// Returns the ways that `--ways` names. A way is a method to place tensors.
std::vector<std::string> ways_of(const Arguments& arguments) {
  if (!arguments.has("ways")) return {};
  const std::vector<std::string> known = way_names();
  const std::string list = arguments.text("ways");
  std::vector<std::string> ways;
  for (const std::string_view way : split(list, ",")) {
    ways.emplace_back(way);
    if (std::find(known.begin(), known.end(), way) == known.end())
      throw UsageError("'" + ways.back() + "' for '--ways'" + did_you_mean(way, known) +
                       "; expected some of " + join(known));
  }
  return ways;
}

int run_placement(const Arguments& arguments) {
  refuse_together(arguments, {"csv", "json"});
  const std::vector<std::string> ways = ways_of(arguments);
  const Question question = read_question(arguments);
  if (!question.scenario)
    throw UsageError(
        "'" + question.path +
        "' is a plan, in which each tensor has its place already; give a scenario instead");
  CurveRequest request{
      .device = arguments.text("device"), .fast = arguments.text("fast"), .ways = ways};
  request.nodes = static_cast<int>(arguments.integer("nodes", request.nodes, 0, 1'000'000'000));
  if (arguments.has("in-place")) request.in_place = in_place_rates(arguments.text("in-place"));
  const auto top = static_cast<std::size_t>(arguments.integer("top", 10, 0, 1'000'000));
  const PlacementCurve curve = placement_curve(*question.scenario, request);
  if (arguments.has("csv"))
    print_placement_csv(curve);
  else if (arguments.has("json"))
    print_placement_json(curve, top);
  else
    print_placement(curve, top);
  const bool none_fits =
      std::all_of(curve.results.begin(), curve.results.end(),
                  [](const PlacementResult& result) { return !result.refused.empty(); });
  return none_fits ? 4 : 0;
}

}  // namespace

extern const Command placement_command = {
    .name = "placement",
    .summary = "Says which tensor should be in a device's fast memory, and which in slow memory.",
    .usage = {"SCENARIO [KEY=VALUE...] [--fast SIZES] [--ways A,B,C] [--device NAME]\n"
              "                   [--in-place READ:WRITE] [--nodes N] [--top N] [--csv | --json]"},
    .least = 1,
    .most = 1,
    .positionals = "SCENARIO",
    .names_folder = "scenarios",
    .overrides = true,
    .options =
        {{.name = "fast",
          .value = "SIZES",
          .summary = "the size of fast memory: 40% (of the bytes that are needed), 16GB, 1:8 "
                     "(fast to slow), 10%..100%:5, or several of these, separated by commas",
          .absent = "10%..100%, and the size of the device's memory"},
         {.name = "ways",
          .value = "A,B,C",
          .summary = "the ways to place tensors",
          .absent = "all",
          .suggested = way_names},
         {.name = "device",
          .value = "NAME",
          .summary = "the device that computes",
          .absent = "the first device with two memories"},
         {.name = "nodes",
          .value = "N",
          .summary =
              "the largest number of nodes that branch and bound may visit for one placement",
          .absent = "1000"},
         {.name = "in-place",
          .value = "READ:WRITE",
          .summary =
              "rates at which kernels read and write slow memory. The time of these reads and writes is added to the "
              "time of a kernel with all tensors in fast memory",
          .absent = "the cost model gives the time of a kernel"},
         {.name = "top",
          .value = "N",
          .summary =
              "how many tensors are shown. These are the tensors whose place changes the time most",
          .absent = "10"},
         {.name = "csv", .summary = "print CSV with one row for each size and each way"},
         {.name = "json", .summary = "print all results as one JSON document"}},
    .details =
        "Each pass of a layer over one micro-batch is a kernel. Each tensor of a kernel is in one\n"
        "of two memories. These are the first two memories that the device reaches. If the device\n"
        "reaches only one memory, the second memory is host memory: kernels read it over the link.\n"
        "If host memory is the device's own, the second memory is the one with the fastest link to\n"
        "it, such as a disk. Slow memory must have room for the tensors that are there. If no link\n"
        "joins the memories, tensors do not move. The policy, cut and fates of the scenario do not\n"
        "matter. The seconds of a backward pass are computed layer by layer.\n\n"
        "A slowdown is the time with a placement divided by the time with all tensors in fast\n"
        "memory. Within one call, a way that searches is never slower in a larger fast memory. For\n"
        "the same size of fast memory, `synchronous` is never slower than `static`, and\n"
        "`asynchronous` is never slower than `synchronous`. The gap says how far the result is\n"
        "from a proven bound: (result - bound) / result. The bound of a way that does not search\n"
        "holds for all placements without moves. That of `cached` is a cache with room for\n"
        "everything. Every placement except that of `cached` is executed as a plan with two pools.\n"
        "The cost model has to count the bytes that kernels read and write in each memory. So the\n"
        "cost model `peak` needs --in-place, with the rates of slow memory.\n\n"
        "JSON keys: format, scenario, cost_model, in_place (null without --in-place), device,\n"
        "fast, slow, fast_capacity_bytes (of the device), needed_bytes (the most bytes at one\n"
        "moment), tensors, kernels, all_fast_s, results, worth.\n"
        "Keys of a result: way, fast_bytes, fast_share, slowdown, predicted_s, simulated_s,\n"
        "bound_s, gap, moves_to_fast, moves_to_slow, moves_beside (those of the copy engine),\n"
        "bytes_to_fast, bytes_to_slow, bytes_beside; for `cached`, also hit_bytes, miss_bytes and\n"
        "written_back_bytes; oracle_s (the seconds of the search), or refused (why this way is\n"
        "impossible). Keys of worth: fast_bytes, and tensors with name, bytes, memory, worth_s.\n"
        "The columns of the CSV are the keys of a result.\n\n"
        "A picture of the curve, drawn by the Python package:\n"
        "  python3 -m sluice.placement_picture SCENARIO [--fast SIZES] [--ways A,B,C] -o curve.png\n\n"
        "The exit code is 4 if no way has a placement that fits into any of the sizes.\n\n"
        "Ways:\n",
    .listed = way_rows,
    .examples =
        {{"sluice placement alexnet_resident cost.model=roofline",
          "the slowdown for several sizes of GPU memory"},
         {"sluice placement alexnet_resident cost.model=roofline --fast 1:8 --ways static,cached --json",
          "two ways of placing tensors, with a ratio of fast to slow memory of 1:8"}},
    .run = run_placement,
};

}  // namespace sluice
