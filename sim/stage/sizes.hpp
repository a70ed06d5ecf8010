// The bytes of consecutive layers: weights, tensors that cross into or out of these layers, and inner tensors. All
// bytes except the bytes of weights are per sample. The output of an input layer exists from the beginning of the run.
// A tensor that no layer reads is part of the answer, and exists until the end.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.hpp"
#include "model/model.hpp"
#include "stage/stage.hpp"

namespace sluice {

class Sizes {
 public:
  /// `model` must outlive this object. Throws InputError if a number of bytes overflows.
  Sizes(const Model& model, DType dtype);

  std::uint32_t layers() const { return static_cast<std::uint32_t>(bytes_.size()); }
  /// Returns the bytes of the layers' weights. If several layers share weights, each stage that has one or several of
  /// these layers counts the shared weights once.
  std::int64_t weights(std::uint32_t first, std::uint32_t last) const;
  /// Returns the bytes of those weights of the layers first..last that a layer before `first` also has.
  std::int64_t tied(std::uint32_t first, std::uint32_t last) const;
  /// Returns the bytes that cross into a stage that begins at layer `first`. If `first` is 0, these are the bytes of
  /// the model's inputs.
  std::int64_t input(std::uint32_t first) const;
  /// Returns the bytes that cross out of a stage that ends at layer `last`.
  std::int64_t output(std::uint32_t last) const { return live_after_[last]; }

  /// Returns the bytes of the answer that the layers first..last make. They are a part of output(last).
  std::int64_t answers(std::uint32_t first, std::uint32_t last) const;

  /// Returns the tensors that cross out of a stage that ends at layer `last`, in the order of the layers that make
  /// them.
  std::vector<Crossing> crosses(std::uint32_t last) const;

  /// Returns the bytes of the caches (Layer::cached) that the layers first..last keep from one pass to the next.
  std::int64_t cached(std::uint32_t first, std::uint32_t last) const {
    return cached_[last + 1] - cached_[first];
  }

  /// Returns the tensors and bytes that the stage first..last keeps for its backward pass.
  Stage::Kept kept(std::uint32_t first, std::uint32_t last) const;

  /// Computes Stage::workspace_bytes for a stage that begins at `first`. Each call of extend() adds the next layer to
  /// this stage.
  class Workspace {
   public:
    Workspace(const Sizes& sizes, std::uint32_t first) : sizes_(sizes), first_(first) {}
    /// Adds the next layer to the stage, and returns the workspace of the stage with this layer.
    std::int64_t extend();

   private:
    const Sizes& sizes_;
    std::uint32_t first_;
    /// For each layer of the stage: the bytes of inner tensors that are held while this layer runs.
    std::vector<std::int64_t> held_;
    std::int64_t most_ = 0;
  };

 private:
  /// Returns for each layer of the stage: whether a backward pass of the stage reads the output of this layer.
  std::vector<char> read_backward(std::uint32_t first, std::uint32_t last, bool& reads_input) const;

  const Model& model_;
  std::int64_t size_;                ///< bytes per element
  std::vector<std::int64_t> bytes_;  ///< the bytes of each layer's output
  std::vector<std::uint32_t> last_readers_;
  /// A layer, and the closest earlier layer that has the same weights.
  struct Shared {
    std::uint32_t layer, before;
    std::int64_t bytes;
  };
  /// Pairs of tied layers, sorted by the later layer of each pair.
  std::vector<Shared> shared_;
  /// For each layer: the bytes that would cross a cut right after this layer.
  std::vector<std::int64_t> live_after_;
  std::vector<std::int64_t> weights_, cached_;  ///< the sums over all earlier layers
  /// dies_at_[i] holds the layers, except inputs, whose last reader is layer i.
  std::vector<std::vector<std::uint32_t>> dies_at_;
  std::int64_t inputs_ = 0;
};

}  // namespace sluice
