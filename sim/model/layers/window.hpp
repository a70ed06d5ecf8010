// Windows that slide over an image: the keys kernel, stride, dilation and padding of convolutions
// and pools, read once for all of them. Throws InputError at the key at fault.
// Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

using Pair = std::array<std::int64_t, 2>;  ///< height, width

/// The key `name` as an integer for both axes or as [height, width], each at least `least`.
Pair read_pair(const Reader& keys, std::string_view name, std::int64_t least = 1);

struct Window {
  Pair kernel = {1, 1}, stride = {1, 1}, dilation = {1, 1};
  Pair before = {0, 0}, after = {0, 0};  ///< zeros above and left, below and right
  bool same = false;                     ///< the padding follows from the stride

  std::int64_t area() const;                   ///< elements of the kernel; checked
  std::int64_t reach(std::size_t axis) const;  ///< from its first to its last element; checked
};

/// The keys kernel, stride and padding. `stride_default`: "1", or none where it is the kernel's.
std::vector<Field> window_fields(std::optional<std::string> stride_default);
Field dilation_field();
/// What a pool has beside the window's: whether a last, incomplete window counts.
Field ceil_field();

/// kernel, stride, dilation and padding of a convolution.
Window read_window(const Reader& keys);
/// kernel, stride (by default the kernel) and padding of a pool.
Window read_pool_window(const Reader& keys);

/// [height, width] of the windows' positions over an image [height, width, channels]:
///   same: ceil(n / stride); otherwise with p zeros before and q after
///   floor((n + p + q - reach) / stride) + 1, reach = dilation (kernel - 1) + 1,
/// or, `ceil`, rounded up, without a window that would begin in the zeros after the image.
/// Throws InputError where the kernel reaches further than the padded image.
Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil = false);

/// What an output pixel sees through the window.
Sight sight_of(const Window& window);

}  // namespace sluice
