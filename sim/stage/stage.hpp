// Stages are consecutive layers that run on one device. A cut divides a model into stages. Each cut has one file, and
// stage/catalog.cpp lists all cuts.
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

/// A tensor that crosses a cut. The tensor is an input, or the output of a layer before the cut. A layer behind the cut
/// reads the tensor, or the tensor is part of the answer. A part of the answer crosses every cut behind its layer.
struct Crossing {
  std::uint32_t layer = 0;
  std::int64_t bytes = 0;  ///< per sample
  bool operator==(const Crossing&) const = default;
};

/// The consecutive layers first..last (inclusive). All bytes except `weight_bytes` and `tied_bytes` are per sample.
struct Stage {
  std::string name;  ///< for example "Conv..Pool", or the name of the only layer
  std::uint32_t first = 0, last = 0;
  /// The bytes of the weights. If layers of several stages share weights, the shared weights count in each of these
  /// stages.
  std::int64_t weight_bytes = 0;
  /// The part of weight_bytes that an earlier stage also has, because its layers share these weights.
  std::int64_t tied_bytes = 0;
  /// The bytes that cross into the stage. For stage 0, these are the bytes of the model's inputs.
  std::int64_t input_bytes = 0;
  /// The bytes that cross out of the stage, because later layers read them or because they are part of the answer. For
  /// the last stage, these are the bytes of the answer.
  std::int64_t output_bytes = 0;
  /// The tensors that cross out of the stage. For the last stage, these are the tensors that no layer reads. The sum of
  /// their bytes is `output_bytes` of this stage and `input_bytes` of the next stage.
  std::vector<Crossing> crosses = {};
  /// The bytes of the answer that the stage's own layers make. They are a part of `output_bytes`.
  std::int64_t answer_bytes = 0;
  /// The most bytes of inner tensors at one moment. Inputs and outputs of the stage are not inner tensors. While layer
  /// l runs, an inner tensor is held if layer l or an earlier layer makes it, and layer l or a later layer reads it.
  std::int64_t workspace_bytes = 0;
  /// The bytes of the caches (Layer::cached) that the stage's layers keep from one pass to the next. These bytes are on
  /// the stage's device from the start to the end of the run.
  std::int64_t cache_bytes = 0;
  std::int64_t macs = 0, flop = 0;

  /// Whether the stage's output has a gradient. It has a gradient if this stage or an earlier stage has a backward
  /// pass.
  bool learns = true;

  /// In training: what the forward pass keeps for the backward pass, in bytes per sample.
  struct Kept {
    /// The bytes of two kinds of tensors: inner tensors that the backward pass reads, and further data that single
    /// layers keep for their own backward pass.
    std::int64_t inner_bytes = 0;
    /// The part of inner_bytes that selective recomputation does not keep.
    std::int64_t selective_bytes = 0;
    /// `reads_input`: whether the backward pass reads tensors that cross into the stage. `reads_output`: whether it
    /// reads tensors that cross out of the stage.
    bool reads_input = false, reads_output = false;
    /// Like Stage::workspace_bytes, but only for inner tensors that are not kept.
    std::int64_t workspace_bytes = 0;
  } kept;
};

struct Cut;

/// The data that a cut may use for its decision.
struct CutRequest {
  const Model& model;
  const Device& device;
  const Cost& cost;
  DType dtype;
  std::int64_t samples;  ///< per micro-batch
  bool working_set_counted;
  const Chosen<Cut>* cut;  ///< if null, the whole model is one stage
  /// In training: the bytes of gradients and optimizer state per element of the weights. In inference, there is no
  /// value.
  std::optional<std::int64_t> state_bytes = {};
  std::int64_t cached_samples = 0;  ///< the number of samples of a step, each with its own cache
  /// Whether a single device computes all stages. It then holds the caches of all stages.
  bool one_device = true;
  std::int64_t micro_batches = 1;  ///< per step
  /// Returns the bytes per second from host memory to the device. Throws InputError if no link connects host memory and
  /// the device. If the function is empty, loads take no time.
  std::function<double()> load_bandwidth = {};
};

/// Returns the seconds of a layer's forward pass for one micro-batch.
double forward_s(const CutRequest& request, const Layer& layer);

/// A cut. `parameters` declares the keys that may stand next to `cut:`. The function `last_layers` returns the last
/// layer of each stage.
struct Cut {
  std::string name;
  std::string summary;
  /// A paragraph: when to use the cut, what it does, and what it costs.
  std::string details = {};
  std::string source;
  std::string example = {};  ///< a command that runs as it is written here
  std::vector<Field> parameters;
  std::vector<std::uint32_t> (*last_layers)(const CutRequest& request, const Reader& parameters);
  /// Layers may be split into parts before the model is cut. This function returns for each layer the number of its
  /// parts. If the pointer is null, no layer is split.
  std::vector<std::int64_t> (*parts)(const CutRequest& request, const Reader& parameters) = nullptr;
  /// True if the stages do not depend on the FLOP/s, bandwidths and delays of the machine.
  bool ignores_prices = false;
};

const Catalog<Cut>& cut_catalog();

/// Returns the record of a mapping `stages:` that names this cut.
Record record_of(const Cut& cut);

/// Reads the cut that a `stages:` mapping names. Throws InputError.
Chosen<Cut> choose_cut(const Value& stages);

/// Makes one stage per element of `last_layers`. The elements ascend, and the last element is the model's last layer.
/// The input layer belongs to stage 0.
std::vector<Stage> make_stages(const Model& model, const std::vector<std::uint32_t>& last_layers,
                               DType dtype);

/// Returns the stages of the request's cut.
std::vector<Stage> cut_stages(const CutRequest& request);

/// Returns the model with split layers, if the cut splits layers (such as by_memory with `split`). A layer that is too
/// large is split into as few equal parts as possible. Each part is a layer with its share of the output, the weights
/// and the FLOP. A layer that reads the split layer reads all its parts. If no layer is split, returns nothing. The
/// parts have names such as "15a" and "15b", as in the document 'AlexNet on one card': "split 15, as 15a and 15b".
std::optional<Model> with_partial_layers(const CutRequest& request);

}  // namespace sluice
