// Packs a list of byte strings into one byte string. One process can then send the list to another process. The packed
// string begins with the number of strings. The length and the bytes of each string follow. All numbers are 64 bits
// wide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

std::size_t packed_size(const std::vector<std::string_view>& parts);
/// Writes the packed list to `to`, which must have room for packed_size() bytes.
void pack_into(char* to, const std::vector<std::string_view>& parts);
std::string pack(const std::vector<std::string_view>& parts);

/// Returns the byte strings of the packed list `bytes`, as views into `bytes`. Throws InternalError if `bytes` is not
/// such a list.
std::vector<std::string_view> unpack(std::string_view bytes);

}  // namespace sluice
