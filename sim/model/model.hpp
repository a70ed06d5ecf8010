// A network: a graph of layers with counts per sample, after parameters, `repeat` and shape
// inference. Knows nothing of machines. Elements, not bytes: the workload's dtype makes them bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "document/value.hpp"

namespace sluice {

using Shape = std::vector<std::int64_t>;  ///< of one sample, without the batch

/// The backward pass of one operator: what it computes, and what the forward pass keeps for it.
/// Counts are per sample. What several layers keep of one tensor is one tensor: a layer names the
/// tensors of the graph that its backward pass reads, and counts only those that are its own.
struct Backward {
  bool runs = true;              ///< false: no layer up to this one has weights
  std::int64_t input_flop = 0;   ///< FLOP of the input gradient (I)
  std::int64_t weight_flop = 0;  ///< FLOP of the weight gradient (W)
  bool reads_inputs = false;     ///< reads the layer's inputs
  bool reads_output = false;     ///< reads the layer's output
  std::int64_t kept = 0;         ///< elements of further tensors of the layer's own that are kept
  std::int64_t kept_bytes = 0;   ///< bytes kept that no dtype changes: masks, indices
  /// Selective recomputation drops `kept` and `kept_bytes` and runs the forward pass of this layer
  /// again (Korthikanti et al. 2022, section 5: the core of the attention).
  bool selective = false;
};

/// Along each axis of an image: input pixels that one output pixel sees, and input pixels between
/// two neighbouring output pixels.
struct ReceptiveField {
  Shape size, jump;
  bool operator==(const ReceptiveField&) const = default;
};

/// What of its weights a layer reads, where that is not all: rows of a table, matrices of experts.
struct Picked {
  std::int64_t elements = 0;  ///< for one sample, at most
  bool same_for_all = false;  ///< every sample reads the same ones; else each may read others
};

/// One operator. All counts are per sample, but `parameters`.
struct Layer {
  std::string name;
  std::string type;                   ///< of the layer catalog; in a stage table its action
  std::vector<std::uint32_t> inputs;  ///< layers whose output it reads; empty for an input
  Shape shape;                        ///< of its output
  std::int64_t output = 0;            ///< elements of its output
  std::int64_t parameters = 0;        ///< elements, but those that it shares
  std::int64_t macs = 0;              ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;              ///< FLOP of the forward pass
  std::optional<std::uint32_t> tied;  ///< the earlier layer whose weights it shares
  std::int64_t shared = 0;            ///< elements of those; counted in that layer's parameters
  std::optional<Picked> picked;       ///< of its weights; none: all are read
  /// Elements of a cache that stays from one pass to the next, as one of keys and values does. The
  /// forward pass reads them; they are neither input nor output.
  std::int64_t cached = 0;
  Backward backward;
  std::optional<ReceptiveField> field;  ///< where it has one
  double sparsity = 0;                  ///< share of the weights that are zero and left out
  /// Measured seconds for Model::measured_batch samples, where they were measured.
  std::optional<double> forward_s, backward_s;
  /// The type and its keys as text, with defaults filled in and expressions evaluated, without what
  /// belongs to this network (name, inputs, measured seconds): layers with equal texts and equal
  /// shapes of inputs are the same operator. Empty: of a stage table.
  std::string config = {};
  std::vector<Shape> input_shapes = {};  ///< of one sample, by input
};

/// Layers in an order in which each comes after its inputs; layer 0 is an input.
struct Model {
  std::string name;
  std::string summary;
  std::vector<Layer> layers;
  std::int64_t measured_batch = 0;  ///< samples for which seconds were measured; 0: none were

  std::int64_t parameters() const;
  std::int64_t activations() const;  ///< elements of all outputs, the input's included
  std::int64_t macs() const;
  std::int64_t flop() const;
  /// The layer that `after: [16]` or `after: [conv3]` means: a number counts from 1, as in the
  /// stage table; else a name. Throws InputError at `where`'s position, with the known names.
  std::uint32_t layer_at(const Value& where) const;
};

/// What a model is read for: where nothing is trained, parameters that say so take another value
/// (`inference` of their declarations), such as dropout.
enum class Purpose : std::uint8_t { training, inference };

/// Reads the `model:` mapping of a scenario after includes: parameters, `scale`, and `definition`
/// (a sluice-model/1 document, or a stage table in data-island form). Throws InputError.
Model read_model(const Value& model, Purpose purpose = Purpose::training);

/// A `model:` mapping for a file, as `sluice model FILE KEY=VALUE…` makes it: read_model reads it.
/// `notes`: where not null, what an importer has to say. Throws InputError, IoError.
Value load_model_use(const std::string& path, const std::vector<std::string>& overrides,
                     std::vector<std::string>* notes = nullptr);

/// Reads a file as `sluice model FILE KEY=VALUE…` does.
Model load_model(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace sluice
