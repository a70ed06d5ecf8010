// The parameters of a model. The document of the model declares parameters with defaults. A use of the model may set
// the parameters.
#pragma once

#include "document/value.hpp"
#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// Returns the values of the parameters: the values in `use`, or else the declared defaults. In inference, the key
/// `inference` of a declaration replaces both. Throws InputError at a value out of range. Throws InputError also at
/// an unknown key, with a list of the known parameters.
Parameters read_parameters(const Value& definition, const Value& use, Purpose purpose);

/// Throws InputError at a key of `use` that is neither in model_use_record nor in `parameters`.
void refuse_unknown_parameters(const Value& use, const Parameters& parameters);

/// Returns the values of a block's parameters at one of its uses. All keys of `use` except block, name and inputs give
/// values. Expressions in these values must already be evaluated. Throws InputError.
Parameters read_block_parameters(const Value& block, const std::string& name, const Value& use);

}  // namespace sluice
