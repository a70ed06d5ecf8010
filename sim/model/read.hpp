// The two forms in which a model is written; read_model chooses.
#pragma once

#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// A sluice-model/1 document. The mapping `use` (a scenario's `model:`) gives values for its
/// parameters, beside keys of its own.
Model read_layers(const Value& definition, const Value& use, Purpose purpose);

/// A stage table in data-island form: one layer a row, its parameters and FLOP the differences of
/// the running totals. Multiply-accumulates are unknown (0).
Model read_stage_table(const Value& table);

/// No model has more layers than this: a short document must not eat all memory.
inline constexpr std::size_t most_layers = 1'000'000;

}  // namespace sluice
