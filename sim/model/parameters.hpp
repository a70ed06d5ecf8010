// The parameters of a model: declared in its document, with defaults, given where it is used.
#pragma once

#include "document/value.hpp"
#include "model/expression.hpp"
#include "model/model.hpp"

namespace sluice {

/// Declared values, over which those given in `use` are laid; where nothing is trained, what the
/// declarations say for `inference`. Throws InputError at an unknown key,
/// naming the parameters there are, and at values out of range.
Parameters read_parameters(const Value& definition, const Value& use, Purpose purpose);

/// Throws InputError at a key of `use` that is neither one of model_use_record nor in `parameters`.
void refuse_unknown_parameters(const Value& use, const Parameters& parameters);

/// The values of a block's parameters at one of its uses: the keys of `use` beside block and name,
/// in which expressions have been evaluated. Throws InputError.
Parameters read_block_parameters(const Value& block, const std::string& name, const Value& use);

}  // namespace sluice
