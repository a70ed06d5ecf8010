#include "cost/fitted/row_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string_view>

#include "profile/classes.hpp"

namespace sluice {
namespace {

/// Returns the number after "KEY=" in a configuration. The configuration is written in the form of Sluice or of torch.
std::optional<double> number_after(const std::string& config, const std::string& key) {
  const std::size_t at = config.find(key + "=");
  if (at == std::string::npos) return std::nullopt;
  const char* begin = config.c_str() + at + key.size() + 1;
  while (*begin == '(' || *begin == '[') ++begin;
  char* end = nullptr;
  const double number = std::strtod(begin, &end);
  return end == begin ? std::nullopt : std::optional(number);
}

/// Returns the numbers of a text such as "kernel_size=(7, 7)" or "kernel=[7,7]".
std::vector<double> numbers_after(const std::string& config, const std::string& key) {
  std::vector<double> numbers;
  const std::size_t at = config.find(key + "=");
  if (at == std::string::npos) return numbers;
  const char* next = config.c_str() + at + key.size() + 1;
  while (*next == '(' || *next == '[' || *next == ',' || *next == ' ') {
    ++next;
    char* end = nullptr;
    const double number = std::strtod(next, &end);
    if (end == next) continue;
    numbers.push_back(number);
    next = end;
  }
  return numbers;
}

double elements_of(const std::vector<std::int64_t>& shape) {
  double elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  return elements;
}

std::optional<Kernel> by_sizes(const ProfileRow& row, const std::string& of, double size) {
  const auto number = [&](const char* name) {
    const std::optional<std::int64_t> found = row.size(name);
    return found ? std::optional(static_cast<double>(*found)) : std::nullopt;
  };
  const auto b = number("b"), h = number("h"), m = number("m"), n = number("n"), k = number("k");
  if (m && n && k) return product(of, b.value_or(1), *m, *n, *k, size);
  if (!b || !h) return std::nullopt;
  constexpr std::array<std::string_view, 4> of_two = {"add", "mul", "div", "pow"};
  const bool two = std::find(of_two.begin(), of_two.end(), row.operator_class) != of_two.end();
  return Kernel{.of = of, .rows = *b, .columns = *h, .bytes = (two ? 3 : 2) * size * *b * *h};
}

/// Returns whether the channels come after height and width. They come last in rows with Sluice's words, such as
/// "conv2d channels=64 …", and first in rows with torch's words, such as "Conv2d(3, 64, …)". The names of torch's
/// classes begin with a capital letter.
bool channels_last(const ProfileRow& row) {
  return !row.operator_class.empty() && row.operator_class[0] >= 'a' &&
         row.operator_class[0] <= 'z';
}

/// Returns the number of elements in one row of a tensor. In an image, a row goes along the axis of the channels. In
/// any other tensor, a row goes along the last axis.
double channels_of(const ProfileRow& row, const std::vector<std::int64_t>& shape) {
  return static_cast<double>(shape.size() == 4 && !channels_last(row) ? shape[1] : shape.back());
}

/// Returns one number per axis, from a text such as "kernel_size=(7, 7)", "kernel=[7,7]" or "stride=2".
std::vector<double> by_axis(const std::string& config, const char* torch, const char* ours,
                            std::size_t axes, double otherwise) {
  std::vector<double> found = numbers_after(config, torch);
  if (found.empty()) found = numbers_after(config, ours);
  if (found.empty()) found = {number_after(config, ours).value_or(otherwise)};
  if (found.size() == 1) found.resize(axes, found.front());
  return found;
}

double product_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 1.0, std::multiplies<>());
}

/// Returns how many positions a window has over an image: the product of the numbers for the axes.
double positions(const std::string& config, const std::vector<double>& extents,
                 const std::vector<double>& kernel) {
  const std::size_t axes = extents.size();
  const std::vector<double> stride = by_axis(config, "stride", "stride", axes, 1),
                            padding = by_axis(config, "padding", "padding", axes, 0),
                            dilation = by_axis(config, "dilation", "dilation", axes, 1);
  if (stride.size() != axes || padding.size() != axes || dilation.size() != axes) return 0;
  const bool same = config.find("padding=same") != std::string::npos;
  double all = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double seen = dilation[axis] * (kernel[axis] - 1) + 1;
    all *= same ? std::ceil(extents[axis] / stride[axis])
                : std::floor((extents[axis] + 2 * padding[axis] - seen) / stride[axis]) + 1;
  }
  return all;
}

/// Reads a text such as "Conv2d(3, 64, kernel_size=(7, 7), …, groups=1)" or "conv2d channels=64 … kernel=7".
std::optional<Kernel> convolution(const ProfileRow& row, const std::string& of, double size) {
  const std::vector<std::int64_t>& image = row.inputs.front();
  if (image.size() < 3 || image.size() > 5) return std::nullopt;
  const std::string& config = row.config;
  const bool last = channels_last(row);
  const std::size_t axes = image.size() - 2;
  const std::vector<double> kernel = by_axis(config, "kernel_size", "kernel", axes, 0);
  if (kernel.size() != axes) return std::nullopt;
  const auto in = static_cast<double>(last ? image.back() : image[1]);
  const double groups = number_after(config, "groups").value_or(1);
  const std::size_t comma = config.find(',');
  const double out =
      number_after(config, "channels")
          .value_or(comma == std::string::npos ? 0
                                               : std::strtod(config.c_str() + comma + 1, nullptr));
  if (!(out > 0)) return std::nullopt;
  const auto first = image.begin() + (last ? 1 : 2);
  const double pixels =
      row.outputs.empty()
          ? static_cast<double>(image[0]) *
                positions(config, {first, first + static_cast<std::ptrdiff_t>(axes)}, kernel)
          : elements_of(row.outputs.front()) / out;
  const double weights = out * in / groups * product_of(kernel);
  Kernel made = product(of, groups, pixels, out / groups, in / groups * product_of(kernel), size);
  made.bytes = size * (elements_of(image) + weights + pixels * out);
  return made;
}

/// Returns the product of a dense layer. The depth of the product is the last dimension of the layer's input.
std::optional<Kernel> dense(const ProfileRow& row, const std::string& of, double size) {
  auto features = number_after(row.config, "out_features");
  if (!features) features = number_after(row.config, "features");
  const double depth = static_cast<double>(row.inputs.front().back());
  if (!features || !(depth > 0)) return std::nullopt;
  return product(of, 1, elements_of(row.inputs.front()) / depth, *features, depth, size);
}

/// Returns how many elements pooling writes for each channel of each image. If the configuration gives the size of the
/// output ("output_size=(6, 6)"), the number of elements is computed from this size. If the configuration does not give
/// this size, the number is pixels / stride^2. If no stride is given, the stride is the size of the window.
double pooled(const ProfileRow& row, const std::vector<std::int64_t>& image) {
  const std::string& config = row.config;
  std::vector<double> output_size = numbers_after(config, "output_size");
  if (const auto one = number_after(config, "output_size"); output_size.empty() && one)
    output_size = {*one};
  if (!output_size.empty()) return output_size.front() * output_size.back();
  const double stride =
      number_after(config, "stride")
          .value_or(number_after(config, "kernel")
                        .value_or(number_after(config, "kernel_size").value_or(1)));
  const double pixels =
      elements_of(image) / static_cast<double>(image[0]) / channels_of(row, image);
  return row.operator_class == "global_avg_pool" ? 1 : pixels / (stride * stride);
}

/// Returns the stream that reads the inputs and writes the outputs. If the row has no outputs, the stream writes as
/// many elements as the first input has. Only a pooling of images then writes the elements that pooled() gives.
Kernel stream(const ProfileRow& row, const std::string& of, double size) {
  const std::vector<std::int64_t>& first = row.inputs.front();
  const bool images = first.size() == 4;
  double read = 0, written = 0;
  for (const auto& shape : row.inputs) read += elements_of(shape);
  for (const auto& shape : row.outputs) written += elements_of(shape);
  if (row.outputs.empty())
    written = of == "pool" && images
                  ? static_cast<double>(first[0]) * channels_of(row, first) * pooled(row, first)
                  : elements_of(first);
  // In a pooling, a row has the input elements of one output element. In all other classes, a row is a row of the
  // output.
  const auto& shape = row.outputs.empty() || of == "pool" ? first : row.outputs.front();
  const double columns = of == "pool" ? std::max(1.0, read / written) : channels_of(row, shape);
  return {.of = of,
          .rows = elements_of(shape) / columns,
          .columns = columns,
          .bytes = row.bytes.value_or(size * (read + written))};
}

/// Returns whether the sizes of a kernel can be used. Count, rows and columns must be at least 1, and bytes above 0.
/// In a class of products the kernel must be a product, and in any other class it must be a stream.
bool has_sizes(const Kernel& kernel) {
  return kernel.count >= 1 && kernel.rows >= 1 && kernel.columns >= 1 && kernel.bytes > 0 &&
         kernel.is_product() == is_product_class(kernel.of);
}

std::optional<Kernel> by_anything(const ProfileRow& row, const std::string& of, double size) {
  if (std::optional<Kernel> made = by_sizes(row, of, size)) return made;
  if (row.inputs.empty() || row.inputs.front().empty()) return std::nullopt;
  if (of == "conv" || of == "grouped_conv") return convolution(row, of, size);
  if (of == "linear") return dense(row, of, size);
  if (of == "bmm") return std::nullopt;
  return stream(row, of, size);
}

}  // namespace

std::string class_of_row(const ProfileRow& row) {
  const std::string of = class_of_operator(row.operator_class);
  return of == "conv" && number_after(row.config, "groups").value_or(1) > 1 ? "grouped_conv" : of;
}

std::optional<Kernel> kernel_of(const ProfileRow& row, const std::string& of, double size) {
  std::optional<Kernel> made = by_anything(row, of, size);
  return made && has_sizes(*made) ? made : std::nullopt;
}

}  // namespace sluice
