// A block is a named list of layers in a model's document. An item of `layers` may use the block. These functions check
// blocks, find a block by its name, and find the layers that become the inputs of the block where it is used.
// They throw InputError at the faulty place.
#pragma once

#include <optional>
#include <string>

#include "document/value.hpp"
#include "model/names.hpp"

namespace sluice {

/// Checks that each block matches block_record, and that no two of its inputs have the same name.
void check_blocks(const Value& blocks);

/// Returns the block that `word` names. `blocks` may be null.
const Value& find_block(const Value* blocks, const Value& word);

/// Returns the layers outside of `block` to which the layers inside can refer. `use` is the item of the document that
/// uses the block. If `use` has the key `inputs`, the result is the layers that this key lists. Otherwise, the result
/// is `previous`, the layer before `use`. `suffix` says which repetitions and blocks contain `use` (see
/// LayerNames::find). `around` has the layers outside of these repetitions and blocks to which `use` can refer.
Surroundings given_to_block(const Value& block, const Value& use, const LayerNames& names,
                            const std::string& suffix, const Surroundings& around,
                            std::optional<std::uint32_t> previous);

}  // namespace sluice
