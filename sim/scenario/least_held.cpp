#include "scenario/least_held.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A network of directed edges with capacities.
class Flow {
 public:
  explicit Flow(std::size_t nodes) : edges_of_(nodes) {}

  void add(std::size_t from, std::size_t to, double capacity) {
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  /// Returns the greatest flow from `source` to `sink`. It equals the smallest capacity of a cut between them. In a
  /// loop, the function finds a shortest path with free capacity, and sends as much flow over this path as it can take
  /// (Edmonds and Karp 1972). If all edges of a path have infinite capacity, returns infinity.
  double greatest(std::size_t source, std::size_t sink) {
    double flow = 0;
    for (double more = augment(source, sink); more > 0; more = augment(source, sink)) {
      if (more == infinity) return infinity;
      flow += more;
    }
    return flow;
  }

 private:
  struct Edge {
    std::size_t to;
    double free;
  };

  double augment(std::size_t source, std::size_t sink) {
    constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> by(edges_of_.size(), nothing);  // for each node: the edge by which it was reached
    std::queue<std::size_t> reached({source});
    for (; !reached.empty() && by[sink] == nothing; reached.pop())
      for (const std::size_t edge : edges_of_[reached.front()])
        if (edges_[edge].free > 0 && edges_[edge].to != source && by[edges_[edge].to] == nothing) {
          by[edges_[edge].to] = edge;
          reached.push(edges_[edge].to);
        }
    if (by[sink] == nothing) return 0;
    double most = infinity;
    for (std::size_t node = sink; node != source; node = edges_[by[node] ^ 1].to)
      most = std::min(most, edges_[by[node]].free);
    for (std::size_t node = sink; node != source; node = edges_[by[node] ^ 1].to) {
      edges_[by[node]].free -= most;
      edges_[by[node] ^ 1].free += most;
    }
    return most;
  }

  std::vector<Edge> edges_;  ///< edge e and edge e ^ 1 have opposite directions
  std::vector<std::vector<std::size_t>> edges_of_;
};

/// A set of tensors separates the stage's inputs from the output of layer `result` if each path of layers between them
/// has a tensor of the set. Returns the number of elements of the smallest such set.
double least_before(const Model& model, const Stage& stage, std::uint32_t result) {
  // Layer l has two nodes: 2 (l - first) and 2 (l - first) + 1. The edge between these two nodes is the output of the
  // layer.
  const std::size_t layers = result - stage.first + 1, source = 2 * layers;
  const auto node = [&](std::uint32_t layer) { return 2 * std::size_t{layer - stage.first}; };
  Flow flow(source + 1);
  for (std::uint32_t l = stage.first; l <= result; ++l) {
    const Layer& layer = model.layers[l];
    if (l < result) flow.add(node(l), node(l) + 1, static_cast<double>(layer.output));
    if (layer.inputs.empty()) flow.add(source, node(l), infinity);
    for (const std::uint32_t input : layer.inputs) {
      if (input >= stage.first)
        flow.add(node(input) + 1, node(l), infinity);
      else
        flow.add(source, node(l), infinity);
    }
  }
  return flow.greatest(source, node(result));
}

}  // namespace

double least_held(const Model& model, const Stage& stage) {
  std::vector<char> read(model.layers.size(), 0);
  for (const Layer& layer : model.layers)
    for (const std::uint32_t input : layer.inputs) read[input] = 1;
  double least = infinity;
  for (std::uint32_t l = stage.first; l <= stage.last; ++l)
    if (l == stage.last || !read[l]) least = std::min(least, least_before(model, stage, l));
  return least;
}

}  // namespace sluice
