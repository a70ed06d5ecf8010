// The layer catalog: what a `type:` in a model may be. One file a type in layers/, one line each in
// catalog.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// What of its inputs an output pixel of a layer sees; the receptive field follows from it (see
/// model/field.hpp). Along each axis of an image:
///   window   `reach` pixels from first to last, `stride` further on for the next output pixel
///   spread   the other way round: each input pixel is seen by `reach` output pixels, and for the
///            next one `stride` further on (a transposed convolution)
/// An image is a shape of at least two axes, the last of which, the channels, is none of its own.
struct Sight {
  enum class Kind : std::uint8_t { everything, same_place, window, spread };
  Kind kind = Kind::everything;
  Shape reach, stride;  ///< of a window or spread; by axis
};

/// What a layer type makes of its inputs and keys. All counts are of one sample, but `parameters`.
struct LayerCounts {
  Shape shape;                   ///< of the output
  std::int64_t parameters = 0;   ///< elements
  std::optional<Picked> picked;  ///< of the parameters; none: all are read
  std::int64_t macs = 0;         ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;         ///< FLOP of the forward pass, 2 a multiply-accumulate
  std::int64_t cached = 0;       ///< elements that stay from one pass to the next
  Backward backward;
  Sight sight;
  double sparsity = 0;  ///< share of the weights that is left out of all counts
};

/// A layer type. `infer` may take for granted that the keys are of their types and in their ranges,
/// and that there are between `min_inputs` and `max_inputs` inputs; it throws InputError (through
/// `keys.fail`, at the key at fault) for everything else, and lets overflow of counts pass through.
struct LayerType {
  std::string name;
  std::string summary;
  std::string source;  ///< paper, section
  std::vector<Field>
      parameters;  ///< keys beside type, name and inputs; integers may be expressions
  std::size_t min_inputs = 1, max_inputs = 1;
  LayerCounts (*infer)(const Reader& keys, const std::vector<const Shape*>& inputs) = nullptr;
  /// The output is the input's memory under another shape, or a part of it: nothing is computed,
  /// moved or kept.
  bool view = false;
  /// Its input says when it is made, and is not read.
  bool reads_nothing = false;
  /// Whether these keys say a layer that does nothing: it is left out, and its name means what it
  /// reads. Null: none do.
  bool (*does_nothing)(const Reader& keys) = nullptr;
};

const Catalog<LayerType>& layer_catalog();

/// Whether the layer's type is a view.
bool is_view(const Layer& layer);
/// Whether the layer's type reads nothing of its input.
bool reads_nothing(const Layer& layer);

/// The keys of a layer of that type: type, name, inputs, and the type's own.
const Record& layer_record(const LayerType& type);

/// A sluice-model/1 document.
const Record& model_record();
/// One of its `blocks`.
const Record& block_record();
/// The `model:` mapping of a scenario; open, for the model's parameters.
const Record& model_use_record();

}  // namespace sluice
