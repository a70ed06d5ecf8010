// The blocks of a model's document. The functions find a block, and the layers that become its inputs at a use. The
// functions throw InputError at the faulty place.
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
/// is `previous`, the layer before the block. `suffix` is the suffix of layer names at the place of the use. `around`
/// holds the layers to which layers at this place can refer.
Surroundings given_to_block(const Value& block, const Value& use, const LayerNames& names,
                            const std::string& suffix, const Surroundings& around,
                            std::optional<std::uint32_t> previous);

}  // namespace sluice
