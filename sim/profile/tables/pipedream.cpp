// Reads layer graphs of PipeDream's profiler. Each node of the graph becomes two rows: one for the forward pass, and
// one for the backward pass. The rows have no batch, because the file does not say how many samples were measured
// together.

#include "model/pipedream/graph.hpp"
#include "profile/columns.hpp"
#include "profile/tables/table.hpp"

namespace sluice {
namespace {

ProfileRow row_of(const pipedream::Graph& graph, const pipedream::Node& node, const char* pass,
                  std::string_view milliseconds) {
  ProfileRow row;
  row.operator_class = node.kind;
  row.config = std::string(node.kind) + "(" + std::string(node.arguments) + ")";
  row.node = node.id;
  if (const std::int64_t elements = node.activation_bytes / pipedream::element_bytes; elements > 0)
    row.outputs = {{elements}};
  row.dtype = "float32";
  row.pass = pass;
  row.seconds.mean = graph.number_of(node.line, milliseconds) / 1e3;
  row.processed = Processed::yes;
  row.line = node.line;
  return row;
}

Profile read(const std::shared_ptr<const Source>& source) {
  const pipedream::Graph graph(source);
  Profile profile;
  profile.path = source->name;
  profile.source = source;
  profile.header.set("format", Value::make(std::string("sluice-profile/1")));
  profile.header.set("source", Value::make(std::string("PipeDream's profiler")));
  for (const pipedream::Node& node : graph.nodes()) {
    if (node.is_size() || node.is_input()) continue;  // A call of size() and a load of data are not operators.
    profile.rows.push_back(row_of(graph, node, "forward", node.forward));
    profile.rows.push_back(row_of(graph, node, "backward", node.backward));
  }
  return profile;
}

}  // namespace

extern const ForeignTable pipedream_table = {
    .name = "pipedream",
    .summary =
        "Reads layer graphs of PipeDream's profiler, with rows for the forward and the backward pass.",
    .source = "Narayanan et al., PipeDream (SOSP 2019), section 3.1",
    .ending = ".graph.txt",
    .read = read};

}  // namespace sluice
