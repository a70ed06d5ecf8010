// Readers of the two forms of a model's document. read_model chooses between them.
#pragma once

#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// Reads a sluice-model/1 document. The mapping `use` (a scenario's `model:`) may set values of the
/// model's parameters.
Model read_layers(const Value& definition, const Value& use, Purpose purpose);

/// Reads a stage table in data-island form. Each row is a layer. A row has running totals of parameters and FLOP. A
/// layer has the difference of its row and the previous row. A stage table does not give multiply-accumulates, so
/// each layer has 0 of them.
Model read_stage_table(const Value& table);

/// The most layers of a model. Without this limit, a short document could use up all memory.
inline constexpr std::size_t most_layers = 1'000'000;

}  // namespace sluice
