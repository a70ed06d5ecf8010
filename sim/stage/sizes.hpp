// The bytes of consecutive layers: weights, tensors that cross into or out of these layers, and inner tensors. All
// bytes except the bytes of weights are per sample. The output of an input layer exists from the beginning. A tensor
// that no layer reads is part of the answer. It exists until the end.
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
  /// Returns the bytes of the layers' weights. Several layers may share weights. Each stage that has one of these
  /// layers counts the shared weights once.
  std::int64_t weights(std::uint32_t first, std::uint32_t last) const;
  /// Layers before `first` may share weights with these layers. Returns the bytes of the shared weights.
  std::int64_t tied(std::uint32_t first, std::uint32_t last) const;
  /// A stage begins at `first`. Returns the bytes that cross into this stage. For the first stage, these are the bytes
  /// of the inputs.
  std::int64_t input(std::uint32_t first) const;
  /// A stage ends at `last`. Returns the bytes that cross out of this stage.
  std::int64_t output(std::uint32_t last) const { return live_after_[last]; }

  /// Returns the bytes of the answer that the layers first..last make. No layer reads this part of
  /// output().
  std::int64_t answers(std::uint32_t first, std::uint32_t last) const;

  /// A stage ends at `last`. Returns the tensors that cross out of this stage, in the order of the layers.
  std::vector<Crossing> crosses(std::uint32_t last) const;

  /// Returns the bytes that the layers keep from one pass to the next: Layer::cached.
  std::int64_t cached(std::uint32_t first, std::uint32_t last) const {
    return cached_[last + 1] - cached_[first];
  }

  /// Returns the tensors and bytes that the stage first..last keeps for its backward pass.
  Stage::Kept kept(std::uint32_t first, std::uint32_t last) const;

  /// Computes Stage::workspace_bytes of the stages that begin at `first` and get longer layer by
  /// layer.
  class Workspace {
   public:
    Workspace(const Sizes& sizes, std::uint32_t first) : sizes_(sizes), first_(first) {}
    /// Adds the next layer and returns the workspace of the stage from `first` to this layer.
    std::int64_t extend();

   private:
    const Sizes& sizes_;
    std::uint32_t first_;
    /// The bytes of inner tensors while a layer runs, for each layer from `first` on.
    std::vector<std::int64_t> held_;
    std::int64_t most_ = 0;
  };

 private:
  /// Returns, for each layer of the stage, whether a backward pass of the stage reads the layer's output.
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
  /// For each layer, the bytes that cross a cut after this layer.
  std::vector<std::int64_t> live_after_;
  std::vector<std::int64_t> weights_, cached_;  ///< the sums over all earlier layers
  /// dies_at_[i] holds the layers whose last reader is layer i.
  std::vector<std::vector<std::uint32_t>> dies_at_;
  std::int64_t inputs_ = 0;
};

}  // namespace sluice
