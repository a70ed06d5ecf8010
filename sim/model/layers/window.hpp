// Windows that slide over a signal, an image or a volume. The functions of this file read the keys `kernel`, `stride`,
// `dilation` and `padding` of convolutions and poolings. If a key is faulty, they throw InputError at this key. The
// arithmetic follows Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

/// Returns the names of an input's axes except the channels, such as "[height, width]". There are 1 to 3 such axes.
/// Messages and summaries contain these names.
std::string axes_text(std::size_t axes);

/// Throws InputError at the layer's `type`, unless the shape has `axes` axes in addition to the channels.
void require_axes(const Reader& keys, const Shape& shape, std::size_t axes);

/// Reads the key `name`: one integer for all axes, or a list with one integer per axis. Each integer must be at least
/// `least`.
Shape read_extents(const Reader& keys, std::string_view name, std::size_t axes,
                   std::int64_t least = 1);

/// A window. Each list has one number per axis of the image, except the channels.
struct Window {
  Shape kernel, stride, dilation;
  /// The number of zeros at the start of each axis of the image, and at the end of each axis.
  Shape before, after;
  bool same = false;  ///< whether the padding follows from the stride (`same`)

  std::size_t axes() const { return kernel.size(); }
  /// Returns the number of elements of the kernel, checked for overflow.
  std::int64_t area() const;
  /// Returns the number of pixels that the kernel spans along an axis, from its first to its last element. Checks for
  /// overflow.
  std::int64_t reach(std::size_t axis) const;
};

/// Returns the keys `kernel`, `stride` and `padding`. `stride_default` is the default of `stride`, such as "1". Without
/// `stride_default`, the default is the size of the kernel. `axes` is 0 if the input decides the number of axes.
std::vector<Field> window_fields(std::size_t axes, std::optional<std::string> stride_default);
Field dilation_field(std::size_t axes);
/// Returns the key `ceil`, which only poolings have: whether a last window counts if it extends beyond the image.
Field ceil_field();

/// Reads kernel, stride, dilation and padding of a convolution.
Window read_window(const Reader& keys, std::size_t axes);
/// Reads kernel, stride, dilation and padding of a pooling. The default of the stride is the size of the kernel.
Window read_pool_window(const Reader& keys, std::size_t axes);

/// Returns the number of positions of the window along each axis of an image, except the channels. For n pixels and
/// `same` padding, the number is ceil(n / stride). For p zeros before the n pixels and q zeros after them, the number
/// is floor((n + p + q - reach) / stride) + 1, where reach is dilation x (kernel - 1) + 1. With `ceil` the quotient is
/// rounded up instead of down. But a window that would begin in the zeros after the image is left out. Throws
/// InputError if the kernel is larger than the padded image.
Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil = false);

/// Returns the input pixels on which an output pixel depends through the window.
InputDependence dependence_of(const Window& window);

}  // namespace sluice
