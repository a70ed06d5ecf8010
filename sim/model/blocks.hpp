// The blocks of a model's document: finding a block, and binding the inputs of its uses. Throws
// InputError at the faulty place.
#pragma once

#include <optional>
#include <string>

#include "document/value.hpp"
#include "model/names.hpp"

namespace sluice {

/// Checks that each block is as block_record says, and that the names of its inputs differ.
void check_blocks(const Value& blocks);

/// The block that `word` names; `blocks` may be null.
const Value& find_block(const Value* blocks, const Value& word);

/// What the layers of `block` can refer to when it is used at `use`: its `inputs`, or else the
/// previous layer, `previous`. `suffix` and `around` are those of the place where the block is
/// used.
Surroundings given_to_block(const Value& block, const Value& use, const LayerNames& names,
                            const std::string& suffix, const Surroundings& around,
                            std::optional<std::uint32_t> previous);

}  // namespace sluice
