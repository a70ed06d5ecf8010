// Windows that slide over a signal, an image or a volume: the keys kernel, stride, dilation and
// padding of convolutions and pools, read once for all of them. Throws InputError at the key at
// fault. Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

/// The axes but the channels, as messages and summaries name them: "[height, width]"; of 1 to 3.
std::string axes_text(std::size_t axes);

/// Throws InputError at the layer's `type` unless the shape has that many axes and the channels.
void require_axes(const Reader& keys, const Shape& shape, std::size_t axes);

/// The key `name` as an integer for all axes or as a list of one for each, each at least `least`.
Shape read_extents(const Reader& keys, std::string_view name, std::size_t axes,
                   std::int64_t least = 1);

/// Along each axis but the channels.
struct Window {
  Shape kernel, stride, dilation;
  Shape before, after;  ///< zeros above and left, below and right
  bool same = false;    ///< the padding follows from the stride

  std::size_t axes() const { return kernel.size(); }
  std::int64_t area() const;                   ///< elements of the kernel; checked
  std::int64_t reach(std::size_t axis) const;  ///< from its first to its last element; checked
};

/// The keys kernel, stride and padding. `stride_default`: "1", or none where it is the kernel's.
/// `axes`: 0 where they follow from the input.
std::vector<Field> window_fields(std::size_t axes, std::optional<std::string> stride_default);
Field dilation_field(std::size_t axes);
/// What a pool has beside the window's: whether a last, incomplete window counts.
Field ceil_field();

/// kernel, stride, dilation and padding of a convolution.
Window read_window(const Reader& keys, std::size_t axes);
/// kernel, stride (by default the kernel), dilation and padding of a pool.
Window read_pool_window(const Reader& keys, std::size_t axes);

/// The windows' positions along each axis of an image, whose last axis is the channels:
///   same: ceil(n / stride); otherwise with p zeros before and q after
///   floor((n + p + q - reach) / stride) + 1, reach = dilation (kernel - 1) + 1,
/// or, `ceil`, rounded up, without a window that would begin in the zeros after the image.
/// Throws InputError where the kernel reaches further than the padded image.
Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil = false);

/// What an output pixel sees through the window.
Sight sight_of(const Window& window);

}  // namespace sluice
