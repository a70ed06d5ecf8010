// Windows that slide over a signal, an image or a volume. The functions read the keys kernel, stride, dilation and
// padding for all convolutions and poolings. The functions throw InputError at the faulty key. The arithmetic follows
// Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

/// Returns the names of 1 to 3 axes without the channels, such as "[height, width]", for messages and summaries.
std::string axes_text(std::size_t axes);

/// Throws InputError at the layer's `type` if the shape does not have `axes` axes and the channels.
void require_axes(const Reader& keys, const Shape& shape, std::size_t axes);

/// Reads the key `name`: one integer for all axes, or a list with one integer per axis. Each integer must be at least
/// `least`.
Shape read_extents(const Reader& keys, std::string_view name, std::size_t axes,
                   std::int64_t least = 1);

/// The sizes of a window along each axis except the channels.
struct Window {
  Shape kernel, stride, dilation;
  /// The zeros before the image and after the image, as numbers along each axis.
  Shape before, after;
  bool same = false;  ///< whether the padding follows from the stride (`same`)

  std::size_t axes() const { return kernel.size(); }
  /// Returns the number of elements of the kernel, checked for overflow.
  std::int64_t area() const;
  /// Returns the number of pixels that the kernel spans along an axis, from its first to its last element. Checks for
  /// overflow.
  std::int64_t reach(std::size_t axis) const;
};

/// Returns the keys kernel, stride and padding. `stride_default` is the default of the stride, such as "1". If it is
/// empty, the default is the size of the kernel. `axes` is 0 if the input decides the number of axes.
std::vector<Field> window_fields(std::size_t axes, std::optional<std::string> stride_default);
Field dilation_field(std::size_t axes);
/// Returns the key that says whether a last, incomplete window counts. Only poolings have this key.
Field ceil_field();

/// Reads kernel, stride, dilation and padding of a convolution.
Window read_window(const Reader& keys, std::size_t axes);
/// Reads kernel, stride, dilation and padding of a pooling. The default of the stride is the kernel.
Window read_pool_window(const Reader& keys, std::size_t axes);

/// Returns the number of positions of the window along each axis of an image, without the channels. For n pixels and
/// `same` padding, the number is ceil(n / stride). Other padding has p zeros before and q zeros after the image. Let
/// reach be dilation (kernel - 1) + 1. The number is then floor((n + p + q - reach) / stride) + 1. With `ceil` the
/// quotient is rounded up. A window that would begin in the zeros after the image is left out. Throws InputError if
/// the kernel is larger than the padded image.
Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil = false);

/// Returns the input pixels on which an output pixel depends through the window.
InputDependence dependence_of(const Window& window);

}  // namespace sluice
