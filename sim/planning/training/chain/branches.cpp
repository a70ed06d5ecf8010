// Finds the boundaries that each stage reads in a network with branches.
#include <algorithm>

#include "model/catalog.hpp"
#include "planning/training/training.hpp"

namespace sluice {

namespace {

class Branches {
 public:
  explicit Branches(const Pricing& pricing)
      : model_(pricing.model), stages_(pricing.stages), made_by_(model_.layers.size()) {
    for (std::uint32_t s = 0; s < stages_.size(); ++s)
      for (std::uint32_t l = stages_[s].first; l <= stages_[s].last; ++l) {
        made_by_[l] = s;
        if (s == 0 && !model_.layers[l].inputs.empty()) first_computes_ = true;
      }
  }

  /// Returns for each stage the boundaries that the stage reads, in ascending order.
  std::vector<std::vector<ChainRead>> reads() {
    std::vector<std::vector<ChainRead>> all(stages_.size());
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      noted_.clear();
      for (std::uint32_t l = stages_[s].first; l <= stages_[s].last; ++l) read_by(l, stages_[s]);
      // The last stage also reads the tensors that no layer reads, because they are parts of the answer, and the loss
      // reads the answer there.
      if (s + 1 == stages_.size() && s > 0)
        for (const Crossing& crossing : stages_[s - 1].crosses) note(crossing.layer, Pass::forward);
      if (s == 0 || noted_.empty()) note_boundary(0, Pass::forward);
      all[s] = noted_up_to(static_cast<std::uint32_t>(s));
    }
    keep_what_nobody_reads(all);
    return all;
  }

 private:
  /// Returns the boundary to which a layer's output belongs. For an input of the model, this is boundary 0, or boundary
  /// 1 if all layers of stage 0 are inputs.
  std::uint32_t boundary_of(std::uint32_t layer) const {
    if (model_.layers[layer].inputs.empty()) return first_computes_ ? 0 : 1;
    return made_by_[layer] + 1;
  }
  /// Makes the last stage read all boundaries that no stage reads, so that every boundary has a reader.
  static void keep_what_nobody_reads(std::vector<std::vector<ChainRead>>& all) {
    std::vector<char> is_read(all.size() + 1, 0);
    for (const std::vector<ChainRead>& reads : all)
      for (const ChainRead& read : reads) is_read[read.boundary] = 1;
    std::vector<ChainRead>& last = all.back();
    for (std::uint32_t b = 1; b < all.size(); ++b)
      if (!is_read[b]) last.push_back({.boundary = b});
    std::sort(last.begin(), last.end(),
              [](const ChainRead& a, const ChainRead& b) { return a.boundary < b.boundary; });
  }
  void note(std::uint32_t layer, Pass pass) { note_boundary(boundary_of(layer), pass); }
  void note_boundary(std::uint32_t boundary, Pass pass) {
    noted_.push_back({.boundary = boundary, .backward = pass == Pass::backward});
  }
  /// Returns the noted boundaries from 0 to `last`, each once. A boundary is read in the backward pass if any of its
  /// notes says so.
  std::vector<ChainRead> noted_up_to(std::uint32_t last) {
    std::sort(noted_.begin(), noted_.end(),
              [](const ChainRead& a, const ChainRead& b) { return a.boundary < b.boundary; });
    std::vector<ChainRead> reads;
    for (const ChainRead& read : noted_) {
      if (read.boundary > last) break;
      if (reads.empty() || reads.back().boundary != read.boundary)
        reads.push_back(read);
      else
        reads.back().backward = reads.back().backward || read.backward;
    }
    return reads;
  }

  /// Notes the boundaries that layer `l` of the stage reads. If the backward pass of the layer reads a view that the
  /// stage makes, the function notes the boundary of the viewed tensor.
  void read_by(std::uint32_t l, const Stage& stage) {
    const Layer& layer = model_.layers[l];
    const auto outside = [&](std::uint32_t input) {
      return input < stage.first || model_.layers[input].inputs.empty();
    };
    for (std::uint32_t input : layer.inputs) {
      if (outside(input)) note(input, Pass::forward);
      if (!layer.backward.reads_inputs) continue;
      while (input >= stage.first && is_view(model_.layers[input]))
        input = model_.layers[input].inputs.front();
      if (outside(input)) note(input, Pass::backward);
    }
  }

  const Model& model_;
  const std::vector<Stage>& stages_;
  std::vector<std::uint32_t> made_by_;  ///< the stage of each layer
  bool first_computes_ = false;         ///< whether stage 0 has a layer that is not an input
  std::vector<ChainRead> noted_;        ///< the reads of the present stage, in any order
};

}  // namespace

std::vector<std::vector<ChainRead>> branching_reads(const Pricing& pricing) {
  std::vector<std::vector<ChainRead>> reads = Branches(pricing).reads();
  for (std::uint32_t s = 0; s < reads.size(); ++s)
    if (reads[s].size() != 1 || reads[s].front().boundary != s) return reads;
  return {};
}

}  // namespace sluice
