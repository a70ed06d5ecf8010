#include "base/packed_strings.hpp"

#include <cstdint>
#include <cstring>

#include "base/error.hpp"

namespace sluice {

namespace {

char* put(char* to, std::uint64_t number) {
  std::memcpy(to, &number, sizeof number);
  return to + sizeof number;
}

std::uint64_t take_number(std::string_view& rest) {
  std::uint64_t value = 0;
  if (rest.size() < sizeof value)
    throw InternalError("a packed list of byte strings is incomplete");
  std::memcpy(&value, rest.data(), sizeof value);
  rest.remove_prefix(sizeof value);
  return value;
}

}  // namespace

std::size_t packed_size(const std::vector<std::string_view>& parts) {
  std::size_t size = sizeof(std::uint64_t);
  for (const std::string_view part : parts) size += sizeof(std::uint64_t) + part.size();
  return size;
}

void pack_into(char* to, const std::vector<std::string_view>& parts) {
  to = put(to, parts.size());
  for (const std::string_view part : parts) {
    to = put(to, part.size());
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
}

std::string pack(const std::vector<std::string_view>& parts) {
  std::string bytes(packed_size(parts), '\0');
  pack_into(bytes.data(), parts);
  return bytes;
}

std::vector<std::string_view> unpack(std::string_view bytes) {
  std::vector<std::string_view> parts;
  for (std::uint64_t left = take_number(bytes); left > 0; --left) {
    const std::uint64_t size = take_number(bytes);
    if (size > bytes.size()) throw InternalError("a packed list of byte strings is incomplete");
    parts.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return parts;
}

}  // namespace sluice
