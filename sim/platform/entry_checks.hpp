// Checks of a platform document: its names and its number of devices.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

struct Position;
class Reader;

/// Throws InputError at `where` if `text` is not a name. A name is a letter, followed by letters, digits and _.
void require_name(const std::string& text, const Position& where);

/// Throws InputError at the key `count` if `devices` is more devices than a platform may have.
void require_few(const Reader& counted, std::int64_t devices);

}  // namespace sluice
