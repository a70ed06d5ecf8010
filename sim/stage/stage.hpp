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
/// reads the tensor. A tensor that no layer reads crosses, too: it is part of the answer.
struct Crossing {
  std::uint32_t layer = 0;
  std::int64_t bytes = 0;  ///< per sample
  bool operator==(const Crossing&) const = default;
};

/// The consecutive layers first..last (inclusive). All bytes except `weight_bytes` are per sample.
struct Stage {
  std::string name;  ///< for example "Conv..Pool", or the name of the only layer
  std::uint32_t first = 0, last = 0;
  /// The bytes of the weights. Tied weights count in each stage that has one of their layers.
  std::int64_t weight_bytes = 0;
  /// The bytes of those weights that an earlier stage also has. They are a part of weight_bytes.
  std::int64_t tied_bytes = 0;
  /// The bytes of the boundary before the stage. For stage 0, these are the bytes of the model's inputs.
  std::int64_t input_bytes = 0;
  /// The bytes that cross out of the stage. Later layers need them. For the last stage, these are the bytes of the
  /// answer.
  std::int64_t output_bytes = 0;
  /// The tensors that cross out of the stage. For the last stage, these are the tensors that no layer reads. The sum of
  /// their bytes is `output_bytes`. It is also `input_bytes` of the next stage.
  std::vector<Crossing> crosses = {};
  /// The bytes of the answer that the stage's own layers make. No layer reads this part of
  /// `output_bytes`.
  std::int64_t answer_bytes = 0;
  /// The most bytes of inner tensors at one moment. Inputs and outputs of the stage are not inner tensors. While layer
  /// l runs, the stage holds some inner tensors. Layer l or an earlier layer has made them. Layer l or a later layer of
  /// the stage reads them.
  std::int64_t workspace_bytes = 0;
  /// The bytes that the stage's layers keep from one pass to the next (Layer::cached). These bytes are on the stage's
  /// device all the time.
  std::int64_t cache_bytes = 0;
  std::int64_t macs = 0, flop = 0;

  /// Whether the output has a gradient. This is so if this stage or an earlier stage has a backward pass.
  bool learns = true;

  /// The bytes per sample that the forward pass keeps for the backward pass, in training.
  struct Kept {
    /// The bytes of two kinds of tensors: inner tensors that the backward pass reads, and tensors that layers keep for
    /// themselves.
    std::int64_t inner_bytes = 0;
    /// The part of inner_bytes that selective recomputation does not keep.
    std::int64_t selective_bytes = 0;
    /// Whether the backward pass reads the tensors that cross into the stage, and whether it reads the tensors that
    /// cross out.
    bool reads_input = false, reads_output = false;
    /// Like Stage::workspace_bytes, but without the inner tensors that are kept.
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
  /// For training, the bytes of gradients and optimizer state per element of weights. Empty for
  /// inference.
  std::optional<std::int64_t> state_bytes = {};
  std::int64_t cached_samples = 0;  ///< the number of samples of a step, each with its own cache
  /// Whether a single device computes all stages and holds all caches.
  bool one_device = true;
  std::int64_t micro_batches = 1;  ///< per step
  /// Returns the bytes per second from host memory to the device. Throws InputError if no link connects host memory and
  /// the device. If the function is empty, a load takes no time.
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
  /// Layers may be split before the model is cut. Returns the number of parts of each layer. If the function is null,
  /// no layer is split.
  std::vector<std::int64_t> (*parts)(const CutRequest& request, const Reader& parameters) = nullptr;
  /// Whether the stages do not depend on FLOP/s, bandwidths and delays of the machine.
  bool ignores_prices = false;
};

const Catalog<Cut>& cut_catalog();

/// Returns the record of a scenario's `stages:` mapping with this cut.
Record record_of(const Cut& cut);

/// Reads the cut that a `stages:` mapping names. Throws InputError.
Chosen<Cut> choose_cut(const Value& stages);

/// Makes one stage per element of `last_layers`. The elements ascend, and the last one is the model's last layer.
/// The input layer belongs to stage 0.
std::vector<Stage> make_stages(const Model& model, const std::vector<std::uint32_t>& last_layers,
                               DType dtype);

/// Returns the stages of the request's cut.
std::vector<Stage> cut_stages(const CutRequest& request);

/// Returns the model with partial layers, if the cut needs them (by_memory with `split`). A layer that does not fit
/// alone is split into equal parts. There are as few parts as fit. Each part has its share of the output, the weights
/// and the FLOP. A layer that reads the split layer reads all its parts. If no layer is split, returns nothing. The
/// parts have names such as "15a" and "15b", as in the document 'AlexNet on one card': "split 15, as 15a and 15b".
std::optional<Model> with_partial_layers(const CutRequest& request);

}  // namespace sluice
