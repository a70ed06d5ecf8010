// Reads a model's document. A document has one of two forms, and read_model() chooses the function
// for it.
#pragma once

#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// Reads a sluice-model/1 document. `use` is the mapping `model:` of a scenario. It may give values
/// to the model's parameters.
Model read_layers(const Value& definition, const Value& use, Purpose purpose);

/// Reads a stage table: JSON with a heading and rows, such as models/alexnet_data_island.json. Each row is a layer. A
/// row gives the totals of parameters and FLOP up to its layer. The layer itself has the difference between its row and
/// the row before. A stage table does not give multiply-accumulates, so all layers have 0 multiply-accumulates.
Model read_stage_table(const Value& table);

/// The largest number of layers in a model. Without this limit, a short document with repetitions could use up all
/// memory.
inline constexpr std::size_t most_layers = 1'000'000;

}  // namespace sluice
