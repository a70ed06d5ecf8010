// Reads a layer graph of PipeDream, `*.graph.txt`. Each line is a node or an edge:
//   node2 -- Conv2d(3, 64, ...) -- forward_compute_time=22.3, backward_compute_time=24.6,
//       activation_size=1644167168.000, parameter_size=7168.000
//   <tab>node1 -- node2
// Times are in milliseconds. Sizes are in bytes, for elements of 4 bytes (float32). Times are for a whole batch, and
// so are the sizes of activations. The file does not say how many samples a batch has. All functions throw InputError
// at the faulty line. The format follows Narayanan et al., PipeDream (SOSP 2019), section 3.1, and the profiler of
// msr-fiddle/pipedream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/value.hpp"

namespace sluice::pipedream {

inline constexpr std::int64_t element_bytes = 4;

/// A node of the graph. Its texts are parts of the file's text, and are not copied.
struct Node {
  int line = 0;
  std::string_view id, kind, arguments;  ///< "node2", "Conv2d", "3, 64, ..."
  std::string_view forward, backward;    ///< milliseconds for the whole batch, as written
  std::int64_t activation_bytes = 0;     ///< bytes of the output, for the whole batch
  std::int64_t parameters = 0;           ///< elements of the weights
  std::vector<std::uint32_t> inputs, outputs;

  /// Returns whether the node is a call of PyTorch's size(). The result of such a call is a number, not a tensor.
  bool is_size() const { return kind == "Size"; }
  /// Returns whether the node's kind is the word "Input", alone or with a number as in "Input12".
  bool is_input() const {
    const std::string_view word = "Input";
    return kind.substr(0, word.size()) == word &&
           kind.find_first_not_of("0123456789", word.size()) == std::string_view::npos;
  }
};

class Graph {
 public:
  explicit Graph(std::shared_ptr<const Source> source);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::shared_ptr<const Source>& source() const { return source_; }

  /// Returns the indices of the nodes in an order in which each node comes after the nodes that it reads. If several
  /// nodes may come next, the node with the smallest number comes next.
  std::vector<std::uint32_t> order() const;

  /// Throws InputError at the line `line`. If `line` is 0, the error is about the whole file.
  [[noreturn]] void fail(int line, const std::string& message) const;

  /// Returns the number in `text`. Throws InputError at the line.
  double number_of(int line, std::string_view text) const;

 private:
  void add_node(int line, std::string_view text);
  void add_edge(int line, std::string_view text);
  std::uint32_t node_at(int line, std::string_view id) const;
  std::string_view value_of(int line, std::string_view costs, std::string_view key) const;
  std::int64_t bytes_of(int line, std::string_view text) const;

  std::shared_ptr<const Source> source_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace sluice::pipedream
