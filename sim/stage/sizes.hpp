// How many bytes a run of consecutive layers needs: weights, what is live across its ends, and the
// inner tensors. Bytes per sample, but weights. An input layer's output exists from the beginning;
// what no layer reads is part of the answer and lives to the end.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.hpp"
#include "model/model.hpp"
#include "stage/stage.hpp"

namespace sluice {

class Sizes {
 public:
  /// `model` must outlive this. Throws InputError when bytes overflow.
  Sizes(const Model& model, DType dtype);

  std::uint32_t layers() const { return static_cast<std::uint32_t>(bytes_.size()); }
  /// Weights that several layers share are counted once, in each stage that has one of these.
  std::int64_t weights(std::uint32_t first, std::uint32_t last) const;
  /// Of these: what layers before `first` have as well.
  std::int64_t tied(std::uint32_t first, std::uint32_t last) const;
  /// What crosses into a stage that begins at `first`; the inputs for the first stage.
  std::int64_t input(std::uint32_t first) const;
  /// What crosses out of a stage that ends at `last`.
  std::int64_t output(std::uint32_t last) const { return live_after_[last]; }

  /// Of these: what the layers from `first` on make and no layer reads, their part of the answer.
  std::int64_t answers(std::uint32_t first, std::uint32_t last) const;

  /// The same, tensor by tensor, in the order of the layers.
  std::vector<Crossing> crosses(std::uint32_t last) const;

  /// What its layers keep from one pass to the next: Layer::cached.
  std::int64_t cached(std::uint32_t first, std::uint32_t last) const {
    return cached_[last + 1] - cached_[first];
  }

  /// What the stage first..last keeps for its backward pass.
  Stage::Kept kept(std::uint32_t first, std::uint32_t last) const;

  /// The workspace of the stages that begin at `first` and end ever later: Stage::workspace_bytes.
  class Workspace {
   public:
    Workspace(const Sizes& sizes, std::uint32_t first) : sizes_(sizes), first_(first) {}
    /// Takes in the next layer; returns the workspace of first..that layer.
    std::int64_t extend();

   private:
    const Sizes& sizes_;
    std::uint32_t first_;
    std::vector<std::int64_t> held_;  ///< by layer from `first`: inner bytes while it runs
    std::int64_t most_ = 0;
  };

 private:
  /// By layer of the stage: whether a backward pass of the stage reads its output.
  std::vector<char> read_backward(std::uint32_t first, std::uint32_t last, bool& reads_input) const;

  const Model& model_;
  std::int64_t size_;                ///< bytes of an element
  std::vector<std::int64_t> bytes_;  ///< of each layer's output
  std::vector<std::uint32_t> last_readers_;
  /// A layer, and the one before it that has the same weights.
  struct Shared {
    std::uint32_t layer, before;
    std::int64_t bytes;
  };
  std::vector<Shared> shared_;                       ///< in the order of the layers
  std::vector<std::int64_t> live_after_;             ///< bytes live across the cut after each layer
  std::vector<std::int64_t> weights_, cached_;       ///< of all layers before
  std::vector<std::vector<std::uint32_t>> dies_at_;  ///< layers whose output is read last there
  std::int64_t inputs_ = 0;
};

}  // namespace sluice
