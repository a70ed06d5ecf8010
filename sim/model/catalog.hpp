// The layer catalog: the words that a model may write after `type:`. Each type has one file in
// layers/ and one line in catalog.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// The input pixels on which one output pixel of a layer depends. They decide the receptive field (model/field.hpp).
/// `everything` means the whole input, and `same_place` means the input pixel at the same position. The kinds `window`
/// and `spread` have two numbers along each axis of an image:
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

/// The output shape and the counts of a layer. They follow from the type, the inputs and the keys of the layer. All
/// counts except `parameters` are per sample.
struct LayerCounts {
  Shape shape;                  ///< the shape of the output
  std::int64_t parameters = 0;  ///< the number of elements of the parameters
  /// The part of the parameters that the layer reads. If the value is absent, the layer reads all parameters.
  std::optional<WeightsRead> weights_read;
  std::int64_t macs = 0;  ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;  ///< FLOP of the forward pass; a multiply-accumulate counts 2
  /// The elements of a cache that persists from one pass to the next pass.
  std::int64_t cached = 0;
  Backward backward;
  InputDependence dependence;
  double sparsity = 0;  ///< the share of the weights that are zero and left out of all counts
};

/// A layer type. When `infer` is called, the types and ranges of keys are right, and there are `min_inputs` to
/// `max_inputs` inputs. If the keys or the inputs have another fault, `infer` throws InputError by `keys.fail`, at
/// the faulty key. If a count overflows, the checked arithmetic throws, and the caller of `infer` catches the error.
struct LayerType {
  std::string name;
  std::string summary;
  /// A paragraph about the effect, the use and the costs of the layer.
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
  /// Whether the layer ignores the values of its input. The input then only says when the layer runs.
  bool reads_nothing = false;
  /// Returns whether a layer with these keys does nothing. A layer that does nothing is left out of the model, and its
  /// name means its input. If the function is null, no layer of this type is left out.
  bool (*does_nothing)(const Reader& keys) = nullptr;
};

const Catalog<LayerType>& layer_catalog();

/// Returns whether the layer's type is a view.
bool is_view(const Layer& layer);
/// Returns whether a layer of this type ignores the values of its input.
bool reads_nothing(const Layer& layer);

/// Returns the record of a layer of this type. The keys of the record are type, name, inputs, and the type's own keys.
const Record& layer_record(const LayerType& type);

/// Returns the record of a sluice-model/1 document.
const Record& model_record();
/// Returns the record of one block of a sluice-model/1 document.
const Record& block_record();
/// Returns the record of a parameter's declaration that is a mapping. A declaration may also be a default alone.
const Record& declaration_record();
/// A list of layers may contain a repetition and a use of a block. These functions return their records.
const Record& repeat_record();
const Record& block_use_record();
/// Returns the record of the `model:` mapping in a scenario. The keys of this mapping that the record does not contain
/// are parameters of the model.
const Record& model_use_record();

}  // namespace sluice
