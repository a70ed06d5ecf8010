// UTF-8 as RFC 3629 defines it: overlong forms, surrogates and values above U+10FFFF are not valid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// Returns the number of bytes of the character at `i`, or 0 if no valid character begins there.
std::size_t utf8_character(std::string_view text, std::size_t i);

/// Returns the text with U+FFFD instead of each byte that does not belong to a valid character.
std::string valid_utf8(std::string_view text);

}  // namespace sluice
