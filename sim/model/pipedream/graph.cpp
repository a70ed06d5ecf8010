#include "model/pipedream/graph.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/number_in.hpp"
#include "base/quantity.hpp"
#include "base/split.hpp"
#include "document/builder.hpp"
#include "model/read.hpp"

namespace sluice::pipedream {

Graph::Graph(std::shared_ptr<const Source> source) : source_(std::move(source)) {
  require_text(*source_);
  std::vector<std::pair<int, std::string_view>> edges;
  int number = 0;
  for (std::string_view line : split(source_->text, "\n")) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.front() == '\t')
      edges.emplace_back(number, line.substr(1));
    else
      add_node(number, line);
  }
  if (nodes_.empty())
    fail(
        0,
        "the layer graph is empty, expected lines like 'node1 -- Input -- forward_compute_time=...'");
  for (const auto& [line, edge] : edges) add_edge(line, edge);
}

void Graph::fail(int line, const std::string& message) const {
  throw InputError(line == 0 ? Position{source_->name, 0, 0, ""} : position_in(*source_, line, 1),
                   message);
}

std::vector<std::uint32_t> Graph::order() const {
  // Returns whether node a comes after node b by its number: "node10" comes after "node9".
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    const std::string_view x = nodes_[a].id, y = nodes_[b].id;
    return x.size() != y.size() ? x.size() > y.size() : x > y;
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> ready(later);
  std::vector<std::size_t> open(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if ((open[i] = nodes_[i].inputs.size()) == 0) ready.push(i);
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::uint32_t next : nodes_[order.back()].outputs)
      if (--open[next] == 0) ready.push(next);
  }
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i] > 0)
      fail(nodes_[i].line,
           "'" + std::string(nodes_[i].id) + "' cannot be put in order: the edges form a cycle");
  return order;
}

void Graph::add_node(int line, std::string_view text) {
  const auto parts = split(text, " -- ");
  if (parts.size() < 3)
    fail(line, "expected 'NODE -- LAYER -- forward_compute_time=..., ...', or an edge after a tab");
  if (nodes_.size() == most_layers)
    fail(line, "more than " + std::to_string(most_layers) + " nodes");
  Node node;
  node.line = line;
  node.id = parts[0];
  const std::size_t bracket = std::min(parts[1].find('('), parts[1].size());
  node.kind = parts[1].substr(0, bracket);
  if (bracket < parts[1].size() && parts[1].back() == ')')
    node.arguments = parts[1].substr(bracket + 1, parts[1].size() - bracket - 2);
  node.forward = value_of(line, parts[2], "forward_compute_time=");
  node.backward = value_of(line, parts[2], "backward_compute_time=");
  for (const std::string_view seconds : {node.forward, node.backward}) number_of(line, seconds);
  node.activation_bytes = bytes_of(line, value_of(line, parts[2], "activation_size="));
  const std::int64_t weights = bytes_of(line, value_of(line, parts[2], "parameter_size="));
  if (weights % element_bytes != 0)
    fail(line, "a parameter_size of " + std::to_string(weights) +
                   " bytes is not a whole number of float32 elements");
  node.parameters = weights / element_bytes;
  if (!index_.emplace(node.id, static_cast<std::uint32_t>(nodes_.size())).second)
    fail(line, "a second node '" + std::string(node.id) + "'");
  nodes_.push_back(std::move(node));
}

void Graph::add_edge(int line, std::string_view text) {
  const auto parts = split(text, " -- ");
  if (parts.size() != 2) fail(line, "expected an edge, 'NODE -- NODE'");
  const std::uint32_t from = node_at(line, parts[0]), to = node_at(line, parts[1]);
  nodes_[from].outputs.push_back(to);
  nodes_[to].inputs.push_back(from);
}

std::uint32_t Graph::node_at(int line, std::string_view id) const {
  const auto found = index_.find(id);
  if (found == index_.end()) fail(line, "no node is called '" + std::string(id) + "'");
  return found->second;
}

std::string_view Graph::value_of(int line, std::string_view costs, std::string_view key) const {
  for (const std::string_view part : split(costs, ", "))
    if (part.substr(0, key.size()) == key) return part.substr(key.size());
  fail(line, "'" + std::string(key.substr(0, key.size() - 1)) + "' is missing");
}

double Graph::number_of(int line, std::string_view text) const {
  const std::optional<double> value = number_in<double>(text);
  if (!value || !std::isfinite(*value) || std::signbit(*value))
    fail(line, "'" + std::string(text.substr(0, 80)) + "': expected a number of at least 0");
  return *value;
}

/// Returns the sum of the sizes in `text`. A node with several outputs has a list of sizes, such as [4096.0; 8.0].
std::int64_t Graph::bytes_of(int line, std::string_view text) const {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  // Above about 9e15, a double cannot represent every whole number.
  constexpr double most = 9e15;
  std::int64_t total = 0;
  for (const std::string_view part : split(text, "; ")) {
    const double value = number_of(line, part);
    if (value != std::floor(value) || value > most)
      fail(line, "'" + std::string(part.substr(0, 80)) + "': expected a whole number of bytes");
    total = checked_add(total, static_cast<std::int64_t>(value), "bytes");
  }
  return total;
}

}  // namespace sluice::pipedream
