// Windows that slide over a signal, an image or a volume: the keys kernel, stride, dilation and
// padding of convolutions and pools, read in one place for all of them. Throws InputError at the
// faulty key. Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning
// (2016).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

/// The axes without the channels, as messages and summaries name them ("[height, width]"), for 1 to
/// 3 axes.
std::string axes_text(std::size_t axes);

/// Throws InputError at the layer's `type` unless the shape has `axes` axes and the channels.
void require_axes(const Reader& keys, const Shape& shape, std::size_t axes);

/// Reads the key `name` as an integer for all axes, or as a list with one integer per axis, each at
/// least `least`.
Shape read_extents(const Reader& keys, std::string_view name, std::size_t axes,
                   std::int64_t least = 1);

/// Extents along each axis except the channels.
struct Window {
  Shape kernel, stride, dilation;
  Shape before, after;  ///< zeros above and left, below and right
  bool same = false;    ///< the padding follows from the stride

  std::size_t axes() const { return kernel.size(); }
  std::int64_t area() const;  ///< elements of the kernel, checked for overflow
  /// From its first to its last element, checked for overflow.
  std::int64_t reach(std::size_t axis) const;
};

/// The keys kernel, stride and padding. `stride_default` is "1", or none where the stride is the
/// kernel by default. `axes` is 0 where it follows from the input.
std::vector<Field> window_fields(std::size_t axes, std::optional<std::string> stride_default);
Field dilation_field(std::size_t axes);
/// A key that only pools have: whether a last, incomplete window counts.
Field ceil_field();

/// Reads kernel, stride, dilation and padding of a convolution.
Window read_window(const Reader& keys, std::size_t axes);
/// Reads kernel, stride (by default the kernel), dilation and padding of a pool.
Window read_pool_window(const Reader& keys, std::size_t axes);

/// The number of positions of the window along each axis of an image, whose last axis is the
/// channels. With `same` padding it is ceil(n / stride). Otherwise, with p zeros before and q after
/// the image, it is
///   floor((n + p + q - reach) / stride) + 1, where reach = dilation (kernel - 1) + 1.
/// With `ceil` the quotient is rounded up, without a window that would begin in the zeros after the
/// image. Throws InputError where the kernel reaches further than the padded image.
Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil = false);

/// The input pixels on which an output pixel depends through the window.
Sight sight_of(const Window& window);

}  // namespace sluice
