// Checks of the entries of a platform document.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

struct Position;
class Reader;

/// Throws InputError at this position if the text is not a name: a letter followed by letters, digits and _.
void require_name(const std::string& text, const Position& where);

/// If the platform would have too many devices, throws InputError at the key `count`.
void require_few(const Reader& counted, std::int64_t devices);

}  // namespace sluice
