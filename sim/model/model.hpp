// A network: a graph of layers with counts per sample, after parameters, `repeat` and shape
// inference. Knows nothing of machines. Elements, not bytes: the workload's dtype makes them bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "document/value.hpp"

namespace sluice {

using Shape = std::vector<std::int64_t>;  ///< of one sample, without the batch

/// One operator. All counts are per sample, but `parameters`.
struct Layer {
  std::string name;
  std::string type;                   ///< of the layer catalog; in a stage table its action
  std::vector<std::uint32_t> inputs;  ///< layers whose output it reads; empty for an input
  Shape shape;                        ///< of its output
  std::int64_t output = 0;            ///< elements of its output
  std::int64_t parameters = 0;        ///< elements
  std::int64_t macs = 0;              ///< multiply-accumulates of the forward pass
  std::int64_t flop = 0;              ///< FLOP of the forward pass
};

/// Layers in an order in which each comes after its inputs; layer 0 is an input.
struct Model {
  std::string name;
  std::string summary;
  std::vector<Layer> layers;

  std::int64_t parameters() const;
  std::int64_t activations() const;  ///< elements of all outputs, the input's included
  std::int64_t macs() const;
  std::int64_t flop() const;
  /// The layer that `after: [16]` or `after: [conv3]` means: a number counts from 1, as in the
  /// stage table; else a name. Throws InputError at `where`'s position, with the known names.
  std::uint32_t layer_at(const Value& where) const;
};

/// Reads the `model:` mapping of a scenario after includes: parameters, `scale`, and `definition`
/// (a sluice-model/1 document, or a stage table in data-island form). Throws InputError.
Model read_model(const Value& model);

/// Reads a file as `sluice model FILE KEY=VALUE…` does.
Model load_model(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace sluice
