// Converts quantities: a text with a unit becomes a number in SI units, and a number becomes a text with a unit. The
// units are byte, s, FLOP, FLOP/s, byte/s, W and J. Decimal and binary prefixes differ: 1 GB is 1e9 bytes, and 1 GiB is
// 2^30 bytes. Bytes are whole numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class Dimension { none, bytes, seconds, flop, flop_per_s, bytes_per_s, watts, joules };

/// Reads a quantity: "61TFLOP/s" becomes 6.1e13. The whole text must be a quantity. The result is finite and not
/// negative. A rate in FLOP/s or B/s is zero or at least 0.001 per second. With the dimension `none`, the text is a
/// plain number or a percentage: "70%" becomes 0.7. Throws InputError without a position. The message has the text, the
/// fault, an example, and `key`, the name of the key that has this quantity.
double parse_quantity(std::string_view text, Dimension dimension, std::string_view key = {});

/// Reads an amount of bytes: "24GB" becomes exactly 24'000'000'000. Throws InputError as parse_quantity does. Also
/// throws InputError if the amount is not a whole number of bytes, or more than 2^63 - 1 bytes.
std::int64_t parse_bytes(std::string_view text, std::string_view key = {});

/// Writes a quantity for people, with four significant digits: 6.1e13 becomes "61 TFLOP/s".
std::string format_quantity(double value, Dimension dimension);

/// Writes bytes for people: 24'000'000'000 becomes "24 GB".
std::string format_bytes(std::int64_t bytes);

/// Returns the shortest text that gives the same double when it is read.
std::string exact(double value);

/// Returns an example of a quantity of this dimension, such as "30GB/s". Messages show the example.
std::string_view example_of(Dimension dimension);
/// Returns the dimension in words, such as "bytes per second".
std::string_view words_of(Dimension dimension);
/// Returns all units of this dimension, for example "B/s", "kB/s", ..., "EiB/s".
std::vector<std::string> units_of(Dimension dimension);

/// These two functions return a + b and a * b. Both numbers are counts of 0 or more. If the result exceeds 2^63 - 1,
/// the functions throw CountError. The message begins with `what`.
std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);
std::int64_t checked_mul(std::int64_t a, std::int64_t b, std::string_view what);

}  // namespace sluice
