// The parameters of a model. The model's document declares the parameters with defaults. A use of the model, such as
// `model:` in a scenario, may give the parameters other values.
#pragma once

#include "document/value.hpp"
#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// Returns the values of the parameters: the values in `use`, or else the defaults in `definition`. In inference, a
/// parameter that is declared with a key `inference` has the value of this key instead. Throws InputError at a value
/// out of range, and at an unknown key. The message about an unknown key lists the known parameters.
Parameters read_parameters(const Value& definition, const Value& use, Purpose purpose);

/// Throws InputError at a key of `use` that is neither a parameter nor a key of model_use_record().
void refuse_unknown_parameters(const Value& use, const Parameters& parameters);

/// Returns the values of a block's parameters at one use of the block. In `use`, each key except `block`, `name` and
/// `inputs` is a parameter with its value. A value must not be an expression: the caller has evaluated all expressions.
/// Throws InputError.
Parameters read_block_parameters(const Value& block, const std::string& name, const Value& use);

}  // namespace sluice
