// Text in UTF-8 as RFC 3629 has it: neither overlong forms nor surrogates nor what lies beyond
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// Bytes of the character at `i`; 0 where none begins.
std::size_t utf8_character(std::string_view text, std::size_t i);

/// The text with U+FFFD for each byte that belongs to no character.
std::string valid_utf8(std::string_view text);

}  // namespace sluice
