// The values of a model's symbolic dimensions. They are keys of `model:` in a scenario, such as `batch: 8` and
// `sequence: 128`.
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
  /// Reads `batch` and all keys that do not belong to the importer itself. Throws InputError.
  explicit Dimensions(const Reader& keys);

  /// Finds the axis and the size of the batch. The axis of the batch is the axis with the name `batch`. If no axis has
  /// this name, the axis of the batch is the first axis of the first input. If the size of the batch is not given, the
  /// size is 1. This function must be called before all other functions of this class. Throws InputError.
  void find_batch(const std::vector<Extents>& inputs);

  /// Returns the extents of an input, in the order of the file. A missing extent becomes 1, and finish() reports it
  /// later.
  Shape resolve(const Extents& input);

  /// Throws an InputError that names all missing extents, if there are any. Also throws InputError at a key that does
  /// not name a dimension.
  void finish(const Graph& graph) const;

  std::int64_t batch() const { return batch_; }
  std::size_t batch_axis() const { return batch_axis_; }
  bool has_symbols() const { return !known_.empty(); }
  /// Returns the extent of a symbolic dimension, or nothing if no input has this dimension.
  std::optional<std::int64_t> value_of(const std::string& symbol) const;

 private:
  std::optional<std::int64_t> given(const std::string& name);
  std::int64_t symbolic(const std::string& input, std::size_t axis, const std::string& symbol);
  void set_batch(const std::string& input, const Axis& axis);

  const Reader& keys_;
  /// The given extents, by key of the scenario. A key is made of letters, digits and '_'.
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
