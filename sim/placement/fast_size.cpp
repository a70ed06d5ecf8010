#include "placement/fast_size.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/number_in.hpp"
#include "base/quantity.hpp"

namespace sluice {
namespace {

std::optional<double> number(const std::string& digits) {
  const std::optional<double> value = number_in<double>(digits);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::int64_t FastSize::bytes_of(std::int64_t needed) const {
  if (bytes) return *bytes;
  return static_cast<std::int64_t>(std::llround(of_needed * static_cast<double>(needed)));
}

std::optional<FastSize> parse_fast_size(const std::string& text) {
  if (!text.empty() && text.back() == '%') {
    const std::optional<double> percent = number(text.substr(0, text.size() - 1));
    if (!percent) return std::nullopt;
    if (*percent > 100)
      throw InputError(
          "is more than what is needed; expected at most 100%, or bytes for a larger memory (16GB)");
    return FastSize{.bytes = {}, .of_needed = *percent / 100};
  }
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    const auto fast = number(text.substr(0, colon)), slow = number(text.substr(colon + 1));
    if (!fast || !slow) return std::nullopt;
    if (!(*fast > 0) || !(*slow > 0))
      throw InputError("has no fast or no slow memory; expected two numbers above 0 (1:8)");
    return FastSize{.bytes = {}, .of_needed = *fast / (*fast + *slow)};
  }
  try {
    return FastSize{.bytes = parse_bytes(text, "fast")};
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sluice
