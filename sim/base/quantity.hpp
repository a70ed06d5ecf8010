// Quantities: text with a unit <-> a number in SI units (byte, s, FLOP, FLOP/s, byte/s, W, J).
// Decimal and binary prefixes are distinct (GB = 1e9, GiB = 2^30). Bytes are whole numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class Dimension { none, bytes, seconds, flop, flop_per_s, bytes_per_s, watts, joules };

/// "61TFLOP/s" -> 6.1e13. The whole text is read; the result is finite and not negative. The
/// dimension `none` takes a plain number or a percentage ("70%" -> 0.7). Throws InputError (without
/// a position) that names the text, what is wrong and an example. `key` is the key whose value the
/// text is; the message names it.
double parse_quantity(std::string_view text, Dimension dimension, std::string_view key = {});

/// "24GB" -> exactly 24'000'000'000. Throws also where the amount is not a whole number of bytes or
/// is more than 2^63 - 1.
std::int64_t parse_bytes(std::string_view text, std::string_view key = {});

/// 6.1e13 -> "61 TFLOP/s", with four significant digits, for people to read.
std::string format_quantity(double value, Dimension dimension);

/// 24'000'000'000 -> "24 GB".
std::string format_bytes(std::int64_t bytes);

/// The shortest text that reads back as the same double.
std::string exact(double value);

/// An example of a quantity of that dimension for messages ("30GB/s").
std::string_view example_of(Dimension dimension);
/// The dimension in words ("bytes per second").
std::string_view words_of(Dimension dimension);
/// All units in which a quantity of that dimension may be written ("B/s", "kB/s", ..., "EiB/s").
std::vector<std::string> units_of(Dimension dimension);

/// a + b and a * b of counts that may not be negative. They throw InputError, which names `what`,
/// on overflow.
std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);
std::int64_t checked_mul(std::int64_t a, std::int64_t b, std::string_view what);

}  // namespace sluice
