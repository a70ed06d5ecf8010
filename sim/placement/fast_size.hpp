// A size of fast memory, as a user writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

struct FastSize {
  /// The bytes, if the user gives bytes. Otherwise the size is the share `of_needed` of the bytes that are needed: of
  /// the most bytes that the tensors occupy at one moment, if no tensor is in fast and slow memory at once.
  std::optional<std::int64_t> bytes;
  double of_needed = 0;

  std::int64_t bytes_of(std::int64_t needed) const;
};

/// Parses a size. "16GB" is a size in bytes. "40%" is a share of the needed bytes, at most 100 %. "1:8" is a ratio of
/// fast memory to slow memory, which together have the needed bytes. Returns nothing if the text is not a size. Throws
/// InputError if it is not a possible size; the message continues a sentence that begins with the text.
std::optional<FastSize> parse_fast_size(const std::string& text);

}  // namespace sluice
