// The extents of a model's symbolic dimensions: axes to which the file gives a name instead of an extent. Keys of
// `model:` in a scenario give the extents, such as `batch: 8` and `sequence: 128`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {

/// One axis of an input as the file declares it.
struct Axis {
  std::optional<std::int64_t> extent;  ///< absent if the dimension is symbolic
  std::string symbol;  ///< the name of a symbolic dimension; empty if it has no name
};

/// An input as the file declares it.
struct Extents {
  std::string name;
  std::vector<Axis> axes;
};

class Dimensions {
 public:
  /// Reads the key `batch`, and the keys that are names of dimensions: all keys except `as_zero` and `shapes`. Throws
  /// InputError.
  explicit Dimensions(const Reader& keys);

  /// Finds the axis and the size of the batch. The axis of the batch is the axis with the name `batch`. If no axis has
  /// this name, the axis of the batch is the first axis of the first input that has axes. If neither the file nor a key
  /// gives the size of the batch, the size is 1. This function must be called before all other functions of this class.
  /// Throws InputError.
  void find_batch(const std::vector<Extents>& inputs);

  /// Returns the extents of an input, with its axes in the order of the file. An extent that is not known becomes 1 for
  /// now, and finish() reports it later.
  Shape resolve(const Extents& input);

  /// Throws InputError if extents are not known: the message names all of them. Throws InputError at a key that does
  /// not name a dimension.
  void finish(const Graph& graph) const;

  std::int64_t batch() const { return batch_; }
  std::size_t batch_axis() const { return batch_axis_; }
  bool has_symbols() const { return !known_.empty(); }
  /// Returns the extent of a symbolic dimension. Returns nothing if no input has this dimension.
  std::optional<std::int64_t> value_of(const std::string& symbol) const;

 private:
  std::optional<std::int64_t> given(const std::string& name);
  std::int64_t symbolic(const std::string& input, std::size_t axis, const std::string& symbol);
  void set_batch(const std::string& input, const Axis& axis);

  const Reader& keys_;
  /// The extents that the scenario gives. The keys of the map are keys of the scenario. They consist of letters, digits
  /// and '_'.
  std::map<std::string, std::int64_t> given_;
  std::map<std::string, bool> used_;
  std::map<std::string, std::int64_t> symbols_;
  std::vector<std::string> known_, missing_;
  std::optional<std::int64_t> given_batch_;
  std::int64_t batch_ = 1;
  std::size_t batch_axis_ = 0;
  bool batch_is_named_ = false;
  std::string batch_symbol_;
};

}  // namespace sluice::onnx_import
