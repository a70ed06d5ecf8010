// A network: a graph of layers with counts per sample. The model's document has been evaluated: its parameters have
// values, layers under `repeat` have been written out, and shapes have been inferred. A model does not depend on any
// machine. A model counts elements instead of bytes, because bytes depend on the dtype of the workload.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "document/value.hpp"

namespace sluice {

/// The extents of a tensor for one sample, without the batch.
using Shape = std::vector<std::int64_t>;

/// The computation of an operator's backward pass, and the tensors that the forward pass keeps for it. Counts are per
/// sample. `kept` counts the tensors that only this layer's backward pass reads. `reads_inputs` and `reads_output` say
/// which other tensors it reads. Several layers may keep one such tensor, so `kept` does not count these tensors.
struct Backward {
  bool runs = true;             ///< false if this layer and all earlier layers have no weights
  std::int64_t input_flop = 0;  ///< FLOP of the gradient of the input (I)
  std::int64_t weight_flop = 0;  ///< FLOP of the gradient of the weights (W)
  bool reads_inputs = false;     ///< whether the backward pass reads the layer's inputs
  bool reads_output = false;     ///< whether the backward pass reads the layer's output
  std::int64_t kept = 0;         ///< elements of kept tensors that belong to this layer alone
  /// Kept bytes that are the same for every dtype, such as the bytes of masks and indices.
  std::int64_t kept_bytes = 0;
  /// Whether selective recomputation drops `kept` and `kept_bytes` and runs the forward pass of this layer again.
  /// True for the core of the attention (Korthikanti et al. 2022, section 5).
  bool selective = false;
};

/// The receptive field of an output pixel: the input pixels on which the output pixel depends. Along each axis of an
/// image, `size` is the number of these input pixels. `jump` is the number of input pixels from the receptive field of
/// one output pixel to the field of the next output pixel.
struct ReceptiveField {
  Shape size, jump;
  bool operator==(const ReceptiveField&) const = default;
};

/// The part of its weights that a layer reads. Some layers read only some rows of a table, or the matrices of some
/// experts.
struct WeightsRead {
  std::int64_t elements = 0;  ///< the most elements that one sample reads
  /// Whether every sample reads the same part of the weights.
  bool same_for_all = false;
};

/// One operator. All counts except `parameters` are per sample.
struct Layer {
  std::string name;
  /// The name of a type of the layer catalog. For a row of a stage table (models/FORMAT.md): the entry in the row's
  /// column `action`.
  std::string type;
  /// The layers whose outputs this layer reads. The list is empty for an input of the model.
  std::vector<std::uint32_t> inputs;
  Shape shape;              ///< the shape of its output
  std::int64_t output = 0;  ///< elements of its output
  /// The number of parameters. Parameters that the layer shares with an earlier layer do not count here.
  std::int64_t parameters = 0;
  std::int64_t macs = 0;              ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;              ///< FLOP of the forward pass
  std::optional<std::uint32_t> tied;  ///< the earlier layer whose weights this layer shares
  /// The number of parameters that the layer shares with the layer `tied`. They count among the parameters of `tied`.
  std::int64_t shared = 0;
  /// The part of the layer's weights that the layer reads. Without a value, the layer reads all its weights.
  std::optional<WeightsRead> weights_read;
  /// The number of elements of the layer's cache: the keys and values of earlier tokens. Each forward pass reads the
  /// cache, and the cache stays on the device during the whole run. These elements are counted neither as inputs nor as
  /// output of the layer.
  std::int64_t cached = 0;
  Backward backward;
  /// The input pixels of the model on which an output pixel of this layer depends. Without a value, each output pixel
  /// depends on the whole input, or no size and jump are known (model/field.hpp).
  std::optional<ReceptiveField> field;
  double sparsity = 0;  ///< the share of the weights that are zero and left out
  /// Measured seconds for Model::measured_batch samples. Without values, the layer was not measured.
  std::optional<double> forward_s, backward_s;
  /// The layer's type and keys as text, with defaults filled in and expressions evaluated. The name, the inputs and the
  /// measured seconds are left out. So two layers with equal texts and equal input shapes do the same computation. The
  /// text is empty for a row of a stage table.
  std::string config = {};
  std::vector<Shape> input_shapes = {};  ///< the shape of each input for one sample
  /// The layer of which this layer is a part (split_layers). Both read the same inputs. The pointer is null for a layer
  /// that was not split.
  std::shared_ptr<const Layer> whole = {};
};

/// A list of layers. A layer comes after the layers whose outputs it reads. Layer 0 is an input.
struct Model {
  std::string name;
  std::string summary;
  std::vector<Layer> layers;
  /// The number of samples for which the layers' seconds were measured. The number is 0 if no layer was measured.
  std::int64_t measured_batch = 0;

  std::int64_t parameters() const;
  std::int64_t activations() const;  ///< elements of the outputs of all layers
  std::int64_t macs() const;
  std::int64_t flop() const;
  /// Returns the index of the layer that `where` names. `where` is an element of a list: a name as in `after: [conv3]`,
  /// or a number as in `after: [16]`, counted from 1 as in the stage table. Throws InputError at the position of
  /// `where`, with the known names.
  std::uint32_t layer_at(const Value& where) const;
};

/// The purpose for which a model is read. A model may declare a parameter with a key `inference`. In inference, the
/// parameter then has the value of this key. For example, a model may set its rate of dropout to 0 in inference.
enum class Purpose : std::uint8_t { training, inference };

/// Reads the `model:` mapping of a scenario. All files that the mapping includes must already be in it. The mapping has
/// the keys `scale` and `definition`, and the values of parameters. The definition is a sluice-model/1 document or a
/// stage table, such as models/alexnet_data_island.json. Throws InputError.
Model read_model(const Value& model, Purpose purpose = Purpose::training);

/// Makes a `model:` mapping from a model's file and overrides, as `sluice model FILE KEY=VALUE…` does. read_model() can
/// read this mapping. `notes` receives the importer's notes unless `notes` is null. Throws InputError and IoError.
Value load_model_use(const std::string& path, const std::vector<std::string>& overrides,
                     std::vector<std::string>* notes = nullptr);

/// Reads the model in a file, with overrides, as `sluice model FILE KEY=VALUE…` does.
Model load_model(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace sluice
