// The parameters of a model: its document declares them with defaults, and each use may set them.
#pragma once

#include "document/value.hpp"
#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// The declared values, overridden by those given in `use`. Where nothing is trained, a parameter
/// takes the value that its declaration gives for `inference`. Throws InputError at an unknown key,
/// naming the known parameters, and at values out of range.
Parameters read_parameters(const Value& definition, const Value& use, Purpose purpose);

/// Throws InputError at a key of `use` that is neither one of model_use_record nor in `parameters`.
void refuse_unknown_parameters(const Value& use, const Parameters& parameters);

/// The values of a block's parameters at one of its uses: the keys of `use` other than block and
/// name, with their expressions already evaluated. Throws InputError.
Parameters read_block_parameters(const Value& block, const std::string& name, const Value& use);

}  // namespace sluice
