#include "platform/entry_checks.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "document/record.hpp"

namespace sluice {
namespace {

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// The greatest number of devices that a platform may have. With more, the search for routes would
/// take minutes.
constexpr std::int64_t most_devices = 16'384;

}  // namespace

void require_name(const std::string& text, const Position& where) {
  if (!is_name(text))
    throw InputError(
        where,
        "'" + text + "' is not a name: expected a letter, followed by letters, digits and _");
}

void require_few(const Reader& counted, std::int64_t devices) {
  if (devices > most_devices)
    counted.fail("count", "with '" + counted.text("count") +
                              "' for 'count', the platform would have " + std::to_string(devices) +
                              " devices; expected at most " + std::to_string(most_devices) +
                              " devices in the whole platform");
}

}  // namespace sluice
