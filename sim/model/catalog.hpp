// The layer catalog: which words `type:` in a model may have. Each type has one file in layers/ and
// one line in catalog.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// The part of a layer's inputs that one output pixel depends on; the receptive field follows from
/// it (see model/field.hpp). Along each axis of an image:
///   window   `reach` pixels from first to last, `stride` pixels further for the next output pixel
///   spread   the reverse: `reach` output pixels depend on each input pixel, and those of the next
///            input pixel lie `stride` further (a transposed convolution)
/// An image is a shape of at least two axes. The last axis, the channels, is not counted as one.
struct Sight {
  enum class Kind : std::uint8_t { everything, same_place, window, spread };
  Kind kind = Kind::everything;
  Shape reach, stride;  ///< of a window or spread, by axis
};

/// What a layer type computes from its inputs and keys. All counts except `parameters` are per
/// sample.
struct LayerCounts {
  Shape shape;                   ///< of the output
  std::int64_t parameters = 0;   ///< elements
  std::optional<Picked> picked;  ///< the part of the parameters that is read; none: all of them
  std::int64_t macs = 0;         ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;         ///< FLOP of the forward pass; a multiply-accumulate counts 2
  std::int64_t cached = 0;       ///< elements of a cache that persists from one pass to the next
  Backward backward;
  Sight sight;
  double sparsity = 0;  ///< share of the weights that is left out of all counts
};

/// A layer type. `infer` may assume that the keys have their types and ranges, and that there are
/// between `min_inputs` and `max_inputs` inputs. For every other fault it throws InputError
/// (through `keys.fail`, at the faulty key); an overflow of counts passes through.
struct LayerType {
  std::string name;
  std::string summary;
  std::string source;        ///< paper, section
  std::string example = {};  ///< a `layers:` list that runs, without the brackets
  std::vector<Field>
      parameters;  ///< keys beside type, name and inputs; integers may be expressions
  std::size_t min_inputs = 1, max_inputs = 1;
  LayerCounts (*infer)(const Reader& keys, const std::vector<const Shape*>& inputs) = nullptr;
  /// The output is the memory of the input under another shape, or a part of it: nothing is
  /// computed, moved or kept.
  bool view = false;
  /// The input only says when this layer runs; it is not read.
  bool reads_nothing = false;
  /// Whether a layer with these keys does nothing. Such a layer is left out, and its name refers to
  /// its input. Null: no layer of this type does nothing.
  bool (*does_nothing)(const Reader& keys) = nullptr;
};

const Catalog<LayerType>& layer_catalog();

/// Whether the layer's type is a view.
bool is_view(const Layer& layer);
/// Whether the layer's type does not read its input.
bool reads_nothing(const Layer& layer);

/// The record of a layer of that type: type, name, inputs, and the type's own keys.
const Record& layer_record(const LayerType& type);

/// The record of a sluice-model/1 document.
const Record& model_record();
/// The record of one of its `blocks`.
const Record& block_record();
/// The record of one of its `parameters`, or of a block's, where it gives more than a default.
const Record& declaration_record();
/// The records of what may occur among layers beside a layer: repeated layers, and a use of a
/// block.
const Record& repeat_record();
const Record& block_use_record();
/// The record of the `model:` mapping in a scenario; it is open for the model's parameters.
const Record& model_use_record();

}  // namespace sluice
