// The catalog of layer types. A model names a layer type with the key `type`. Each type has an
// entry in a file of layers/, and a line in catalog.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// Says on which input pixels one output pixel of a layer depends. The receptive field follows from this
/// (model/field.hpp). `everything` means the whole input, and `same_place` means the input pixel at the same position.
/// The kinds `window` and `spread` have two numbers for each axis of an image:
///   window   Each output pixel depends on `reach` input pixels. For the next output pixel, these input pixels lie
///            `stride` pixels further.
///   spread   `reach` output pixels depend on each input pixel. For the next input pixel, these output pixels lie
///            `stride` pixels further. Transposed convolutions have this kind.
/// An image is a shape of at least two axes. `reach` and `stride` have no number for the last axis, the channels.
struct InputDependence {
  enum class Kind : std::uint8_t { everything, same_place, window, spread };
  Kind kind = Kind::everything;
  Shape reach, stride;  ///< the two numbers of a window or a spread for each axis
};

/// The output shape and the counts of a layer, which follow from the type, the inputs and the keys of the layer. All
/// counts except `parameters` are per sample.
struct LayerCounts {
  Shape shape;                  ///< the shape of the output
  std::int64_t parameters = 0;  ///< the number of elements of the parameters
  /// The part of the parameters that the layer reads. If there is no value, the layer reads all its parameters.
  std::optional<WeightsRead> weights_read;
  std::int64_t macs = 0;  ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;  ///< FLOP of the forward pass; a multiply-accumulate counts 2
  /// The number of elements of a cache that stays in memory from one pass to the next pass.
  std::int64_t cached = 0;
  Backward backward;
  InputDependence dependence;
  double sparsity = 0;  ///< the share of the weights that are zero and left out of all counts
};

/// A layer type. `infer` returns the output shape and the counts of a layer. Before the call, the types and ranges of
/// the keys and the number of inputs have been checked. If the keys or the inputs have another fault, `infer` calls
/// `keys.fail`, which throws InputError at the faulty key. If a count overflows, the checked arithmetic throws, and the
/// caller of `infer` catches the error.
struct LayerType {
  std::string name;
  std::string summary;
  /// A paragraph that says what the layer computes, when to use it, and what it costs.
  std::string details = {};
  std::string source;        ///< paper, section
  std::string example = {};  ///< a `layers:` list that runs, without the brackets
  /// The layer's keys in addition to type, name and inputs. Integers may be expressions.
  std::vector<Field> parameters;
  std::size_t min_inputs = 1, max_inputs = 1;
  LayerCounts (*infer)(const Reader& keys, const std::vector<const Shape*>& inputs) = nullptr;
  /// Whether the layer is a view: its output is the memory of the input with another shape, or a part of this memory.
  /// A view computes, moves and keeps nothing.
  bool view = false;
  /// Whether the layer ignores the values of its input. If so, the layer still runs after the layer that makes its
  /// input.
  bool reads_nothing = false;
  /// Returns whether a layer with these keys does nothing. A layer that does nothing is left out of the model. Layers
  /// that name it as their input read its own input instead. If the function is null, no layer of this type is left
  /// out.
  bool (*does_nothing)(const Reader& keys) = nullptr;
};

const Catalog<LayerType>& layer_catalog();

/// Returns whether the layer's type is a view.
bool is_view(const Layer& layer);
/// Returns whether the layer ignores the values of its input, as all layers of its type do.
bool reads_nothing(const Layer& layer);

/// Returns the record of a layer of this type. The keys of the record are type, name, inputs, and the type's own keys.
const Record& layer_record(const LayerType& type);

/// Returns the record of a sluice-model/1 document.
const Record& model_record();
/// Returns the record of one block of a sluice-model/1 document.
const Record& block_record();
/// Returns the record of a mapping that declares a parameter of a model. Instead of such a mapping, a model may give
/// only the default of the parameter.
const Record& declaration_record();
/// A list of layers may contain repetitions and uses of blocks. These two functions return the record of a repetition
/// and the record of a use.
const Record& repeat_record();
const Record& block_use_record();
/// Returns the record of the `model:` mapping in a scenario. If the mapping has a key that is not in the record, the
/// key is a parameter of the model.
const Record& model_use_record();

}  // namespace sluice
