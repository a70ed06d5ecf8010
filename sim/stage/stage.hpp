// Stages: consecutive layers placed together, and the cuts that make them. One file a cut;
// stage/catalog.cpp lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "cost/cost.hpp"
#include "document/choice.hpp"
#include "model/model.hpp"

namespace sluice {

/// A tensor that is live across a cut: a layer's output, made before it and read behind it (or by
/// nobody: a part of the answer), or an input that is read behind it.
struct Crossing {
  std::uint32_t layer = 0;
  std::int64_t bytes = 0;  ///< per sample
  bool operator==(const Crossing&) const = default;
};

/// Layers first..last (inclusive). Bytes per sample, but `weight_bytes`.
struct Stage {
  std::string name;  ///< "Conv..Pool" or the layer's own name
  std::uint32_t first = 0, last = 0;
  std::int64_t weight_bytes = 0;  ///< tied weights in each stage that has a layer of theirs
  std::int64_t tied_bytes = 0;    ///< of these: what an earlier stage has as well
  std::int64_t input_bytes =
      0;  ///< what crosses into it (its boundary activations; the input for stage 0)
  std::int64_t output_bytes =
      0;  ///< what crosses out of it (live across the cut; the answer for the last)
  /// What crosses out of it, tensor by tensor; their sum is `output_bytes`, and `input_bytes` of
  /// the stage behind it. Of the last stage: what no layer reads.
  std::vector<Crossing> crosses = {};
  /// Of `output_bytes`: what its own layers make and no layer reads, its part of the answer.
  std::int64_t answer_bytes = 0;
  /// The most bytes that its inner tensors (neither input nor output) take at one moment, layer by
  /// layer: for a layer l those made at or before l that l or a later layer of the stage reads.
  std::int64_t workspace_bytes = 0;
  /// What its layers keep from one pass to the next (Layer::cached): on the stage's device all the
  /// time.
  std::int64_t cache_bytes = 0;
  std::int64_t macs = 0, flop = 0;

  bool learns =
      true;  ///< its output gets a gradient: it, or a stage before it, has a backward pass

  /// For training: what the forward pass keeps for the backward pass, bytes per sample.
  struct Kept {
    /// Inner tensors that the backward pass reads, and what the layers keep of their own.
    std::int64_t inner_bytes = 0;
    std::int64_t selective_bytes = 0;  ///< of these: what selective recomputation drops
    bool reads_input = false, reads_output = false;  ///< the backward pass reads what crosses
    /// As workspace_bytes, of the inner tensors that are not kept.
    std::int64_t workspace_bytes = 0;
  } kept;
};

struct Cut;

/// What a cut may look at.
struct CutRequest {
  const Model& model;
  const Device& device;
  const Cost& cost;
  DType dtype;
  std::int64_t samples;  ///< of a micro-batch
  bool working_set_counted;
  const Chosen<Cut>* cut;  ///< null: the whole model is one stage
  /// For training: bytes of gradients and optimizer state beside each weight; none for inference.
  std::optional<std::int64_t> state_bytes = {};
  std::int64_t cached_samples = 0;  ///< of a step: the device holds their caches
  bool one_device = true;           ///< computes all stages, and holds the caches of all
  std::int64_t micro_batches = 1;   ///< of a step
  /// From host memory to the device, in byte/s. Throws InputError where nothing joins the two.
  /// Empty: a load takes no time.
  std::function<double()> load_bandwidth = {};
};

/// Seconds of a layer's forward pass for a micro-batch.
double forward_s(const CutRequest& request, const Layer& layer);

/// A cut: its parameters (keys beside `cut:`) and the function that gives each stage's last layer.
struct Cut {
  std::string name;
  std::string summary;
  std::string source;
  std::string example = {};  ///< a command that runs as it stands
  std::vector<Field> parameters;
  std::vector<std::uint32_t> (*last_layers)(const CutRequest& request, const Reader& parameters);
  /// Into how many parts each layer is to be split first; null: none is.
  std::vector<std::int64_t> (*parts)(const CutRequest& request, const Reader& parameters) = nullptr;
};

const Catalog<Cut>& cut_catalog();

/// The record of a scenario's `stages:` mapping under that cut.
Record record_of(const Cut& cut);

/// The cut that a `stages:` mapping names. Throws InputError.
Chosen<Cut> choose_cut(const Value& stages);

/// The stages that end at `last_layers` (ascending, the last one the model's last layer). The input
/// layer belongs to stage 0.
std::vector<Stage> make_stages(const Model& model, const std::vector<std::uint32_t>& last_layers,
                               DType dtype);

/// The stages of the request's cut.
std::vector<Stage> cut_stages(const CutRequest& request);

/// The model with partial layers, where the cut asks for them (by_memory with `split`): a layer
/// that does not fit alone becomes the fewest equal parts that do, "15a" and "15b", each with its
/// share of the output, the weights and the FLOP; whatever reads the layer reads all parts. None:
/// nothing is split. Source: AlexNet on one card, "split 15, as 15a and 15b".
std::optional<Model> with_partial_layers(const CutRequest& request);

}  // namespace sluice
