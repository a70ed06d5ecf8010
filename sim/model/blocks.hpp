// The blocks of a model's document: finding one, and binding the inputs of its uses. Throws
// InputError at what is at fault.
#pragma once

#include <optional>
#include <string>

#include "document/value.hpp"
#include "model/names.hpp"

namespace sluice {

/// That each is what block_record says, and that the names of its inputs can be told apart.
void check_blocks(const Value& blocks);

/// The block that `word` names; `blocks` may be null.
const Value& find_block(const Value* blocks, const Value& word);

/// What the layers of `block` see when it stands at `use`: its `inputs`, or else the layer before,
/// `previous`. `suffix` and `around` are those of the place where the use stands.
Surroundings given_to_block(const Value& block, const Value& use, const LayerNames& names,
                            const std::string& suffix, const Surroundings& around,
                            std::optional<std::uint32_t> previous);

}  // namespace sluice
