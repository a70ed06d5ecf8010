// A list of byte strings as one: their number, then length and bytes of each, the numbers 64 bits
// wide. What one process hands to another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

std::size_t packed_size(const std::vector<std::string_view>& parts);
/// Writes packed_size() bytes.
void pack_into(char* to, const std::vector<std::string_view>& parts);
std::string pack(const std::vector<std::string_view>& parts);

/// Views into `bytes`. Throws InternalError when it is not such a list.
std::vector<std::string_view> unpack(std::string_view bytes);

}  // namespace sluice
