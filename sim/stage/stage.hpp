// Stages are consecutive layers that run on one device; cuts make them. Each cut has one file, and
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

/// A tensor that is live across a cut: the output of a layer before the cut that is read behind it
/// (or by nobody: a part of the answer), or an input that is read behind it.
struct Crossing {
  std::uint32_t layer = 0;
  std::int64_t bytes = 0;  ///< per sample
  bool operator==(const Crossing&) const = default;
};

/// Layers first..last (inclusive). All bytes except `weight_bytes` are per sample.
struct Stage {
  std::string name;  ///< "Conv..Pool", or the name of its only layer
  std::uint32_t first = 0, last = 0;
  std::int64_t weight_bytes = 0;  ///< tied weights count in each stage that has one of their layers
  std::int64_t tied_bytes = 0;    ///< the part of weight_bytes that an earlier stage also has
  /// The bytes that cross into it (its boundary activations; for stage 0 the input).
  std::int64_t input_bytes = 0;
  /// The bytes that cross out of it (live across the cut; for the last stage the answer).
  std::int64_t output_bytes = 0;
  /// The tensors that cross out of it. Their sum is `output_bytes`, and `input_bytes` of the next
  /// stage. For the last stage: the tensors that no layer reads.
  std::vector<Crossing> crosses = {};
  /// The part of `output_bytes` that its own layers make and no layer reads: its part of the
  /// answer.
  std::int64_t answer_bytes = 0;
  /// The most bytes that its inner tensors (neither input nor output) occupy at one moment. While
  /// layer l runs, these are the tensors made at or before l that l or a later layer of the stage
  /// reads.
  std::int64_t workspace_bytes = 0;
  /// Bytes that its layers keep from one pass to the next (Layer::cached). They are on the stage's
  /// device all the time.
  std::int64_t cache_bytes = 0;
  std::int64_t macs = 0, flop = 0;

  /// Its output has a gradient, because this stage or one before it has a backward pass.
  bool learns = true;

  /// For training: what the forward pass keeps for the backward pass, in bytes per sample.
  struct Kept {
    /// Inner tensors that the backward pass reads, and tensors of the layers' own that they keep.
    std::int64_t inner_bytes = 0;
    std::int64_t selective_bytes = 0;  ///< the part that selective recomputation drops
    bool reads_input = false, reads_output = false;  ///< the backward pass reads what crosses
    /// Like workspace_bytes, but of the inner tensors that are not kept.
    std::int64_t workspace_bytes = 0;
  } kept;
};

struct Cut;

/// The information that a cut may use.
struct CutRequest {
  const Model& model;
  const Device& device;
  const Cost& cost;
  DType dtype;
  std::int64_t samples;  ///< per micro-batch
  bool working_set_counted;
  const Chosen<Cut>* cut;  ///< null: the whole model is one stage
  /// For training: bytes of gradients and optimizer state for given bytes of weights; none for
  /// inference.
  std::optional<std::int64_t> state_bytes = {};
  std::int64_t cached_samples = 0;  ///< per step: the device holds the caches of these samples
  bool one_device = true;           ///< one device computes all stages, and holds the caches of all
  std::int64_t micro_batches = 1;   ///< per step
  /// Byte per second from host memory to the device. Throws InputError where no link connects the
  /// two. Empty: a load takes no time.
  std::function<double()> load_bandwidth = {};
};

/// Seconds of a layer's forward pass for one micro-batch.
double forward_s(const CutRequest& request, const Layer& layer);

/// A cut: its parameters (the keys beside `cut:`) and the function that returns the last layer of
/// each stage.
struct Cut {
  std::string name;
  std::string summary;
  std::string source;
  std::string example = {};  ///< a command that runs as it is
  std::vector<Field> parameters;
  std::vector<std::uint32_t> (*last_layers)(const CutRequest& request, const Reader& parameters);
  /// Returns the number of parts into which each layer is to be split first; null: no layer is
  /// split.
  std::vector<std::int64_t> (*parts)(const CutRequest& request, const Reader& parameters) = nullptr;
  /// Its stages are the same whatever FLOP/s, bandwidths and delays the machine has.
  bool ignores_prices = false;
};

const Catalog<Cut>& cut_catalog();

/// The record of a scenario's `stages:` mapping under that cut.
Record record_of(const Cut& cut);

/// Reads the cut that a `stages:` mapping names. Throws InputError.
Chosen<Cut> choose_cut(const Value& stages);

/// The stages that end at `last_layers`, which ascend and end with the model's last layer. The
/// input layer belongs to stage 0.
std::vector<Stage> make_stages(const Model& model, const std::vector<std::uint32_t>& last_layers,
                               DType dtype);

/// The stages of the request's cut.
std::vector<Stage> cut_stages(const CutRequest& request);

/// The model with partial layers, where the cut asks for them (by_memory with `split`): a layer
/// that does not fit alone is split into the fewest equal parts that do, "15a" and "15b", each with
/// its share of the output, the weights and the FLOP. Whatever reads the layer reads all parts.
/// None: no layer is split. Source: AlexNet on one card, "split 15, as 15a and 15b".
std::optional<Model> with_partial_layers(const CutRequest& request);

}  // namespace sluice
