#include "model/layers/window.hpp"

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

std::string quoted(const Value& value) {
  return value.is_scalar() ? "'" + value.text() + "'" : std::string(value.kind_name());
}

std::int64_t whole(const Value& value, std::string_view name, std::int64_t least,
                   const std::string& expected) {
  const std::string start = quoted(value) + " for '" + std::string(name) + "': ";
  if (value.kind() != Value::Kind::integer) fail_at(value, start + "expected " + expected);
  if (value.as_integer() < least)
    fail_at(value, start + "it must be at least " + std::to_string(least));
  return value.as_integer();
}

std::string one_or_list(std::size_t axes) {
  return "an integer or " + axes_text(axes);
}

/// Returns the names of the sides of an image, in the order in which `padding` lists them. First
/// come the sides at the start of each axis, such as top and left. Then come the sides at the end
/// of each axis.
std::string sides_text(std::size_t axes) {
  if (axes == 1) return "[left, right]";
  return axes == 2 ? "[top, left, bottom, right]" : "[front, top, left, back, bottom, right]";
}

void read_padding(const Reader& keys, Window& window) {
  const std::size_t axes = window.axes();
  window.before = window.after = Shape(axes, 0);
  window.same = keys.is_word("padding", "same");
  if (window.same || keys.is_word("padding", "valid")) return;
  const Value& value = *keys.value("padding");
  const std::string expected =
      "an integer, or: valid, same, " + axes_text(axes) + ", " + sides_text(axes);
  if (!value.is_list()) {
    window.before = window.after = Shape(axes, whole(value, "padding", 0, expected));
    return;
  }
  Shape zeros;
  for (const Value& item : value.items()) zeros.push_back(whole(item, "padding", 0, "an integer"));
  if (zeros.size() != axes && zeros.size() != 2 * axes)
    fail_at(value,
            "a list of " + std::to_string(zeros.size()) + " integers for 'padding': expected " +
                expected);
  const auto count = static_cast<std::ptrdiff_t>(axes);
  window.before.assign(zeros.begin(), zeros.begin() + count);
  window.after.assign(zeros.end() - count, zeros.end());
}

std::string padding_text(const Window& window, std::size_t axis) {
  const std::string before = std::to_string(window.before[axis]);
  if (window.before[axis] == window.after[axis]) return before;
  return before + " and " + std::to_string(window.after[axis]);
}

[[noreturn]] void refuse_kernel(const Reader& keys, const Window& window, const Shape& image,
                                std::size_t axis, std::int64_t padded) {
  const std::int64_t dilation = window.dilation[axis];
  std::string text = "'" + std::to_string(window.kernel[axis]) + "' for 'kernel': ";
  if (dilation > 1)
    text += "with a dilation of " + std::to_string(dilation) + " the window has a length of " +
            std::to_string(window.reach(axis)) + ", ";
  keys.fail("kernel", text + "larger than the input " + text_of(image) + " with a padding of " +
                          padding_text(window, axis) + ", expected at most " +
                          std::to_string((padded - 1) / dilation + 1));
}

}  // namespace

std::string axes_text(std::size_t axes) {
  if (axes == 1) return "[length]";
  return axes == 2 ? "[height, width]" : "[depth, height, width]";
}

void require_axes(const Reader& keys, const Shape& shape, std::size_t axes) {
  if (shape.size() == axes + 1) return;
  std::string expected = axes_text(axes);
  expected.insert(expected.size() - 1, ", channels");
  keys.fail("type",
            keys.text("type") + " needs an input of " + expected + ", got " + text_of(shape));
}

Shape read_extents(const Reader& keys, std::string_view name, std::size_t axes,
                   std::int64_t least) {
  const Value* value = keys.value(name);
  if (!value) return Shape(axes, keys.integer(name));
  if (!value->is_list()) return Shape(axes, whole(*value, name, least, one_or_list(axes)));
  if (value->items().size() != axes)
    fail_at(*value, "a list of length " + std::to_string(value->items().size()) + " for '" +
                        std::string(name) + "': expected " + one_or_list(axes));
  Shape extents;
  for (const Value& item : value->items())
    extents.push_back(whole(item, name, least, "an integer"));
  return extents;
}

std::int64_t Window::area() const {
  return elements_of(kernel);
}

std::int64_t Window::reach(std::size_t axis) const {
  return checked_add(checked_mul(dilation[axis], kernel[axis] - 1, "dilation"), 1, "dilation");
}

namespace {

/// Returns the text that describes the allowed values of a key, for the key's summary.
std::string values_text(std::size_t axes) {
  return axes == 0 ? "one integer for all axes, or one integer per axis, such as [height, "
                     "width]" : one_or_list(axes);
}

}  // namespace

std::vector<Field> window_fields(std::size_t axes, std::optional<std::string> stride_default) {
  const bool none = !stride_default;
  const std::size_t shown = axes == 0 ? 2 : axes;
  return {
      Key::any("kernel", "the size of the window: " + values_text(axes)),
      {.name = "stride",
       .type = Type::any,
       .summary = "the distance from one window to the next: " + values_text(axes) +
                  (none ? "; by default the size of the kernel" : ""),
       .default_text = std::move(stride_default),
       .optional = none},
      Key::any("padding", "the zeros on each side: an integer, " + axes_text(shown) + " or " +
                              sides_text(shown) +
                              "; `valid` adds no zeros, `same` makes each extent of the output "
                              "ceil(extent of the input / stride)")
          .by_default("valid")
          .or_words({"valid", "same"}),
  };
}

Field dilation_field(std::size_t axes) {
  return Key::any("dilation",
                  "the distance from one element of the kernel to the "
                  "next: " +
                      values_text(axes))
      .by_default("1");
}

Field ceil_field() {
  return Key::boolean("ceil", "whether a last window counts, too, if it extends beyond the image")
      .by_default("false");
}

Window read_window(const Reader& keys, std::size_t axes) {
  Window window;
  window.kernel = read_extents(keys, "kernel", axes);
  window.dilation = read_extents(keys, "dilation", axes);
  window.stride = read_extents(keys, "stride", axes);
  read_padding(keys, window);
  return window;
}

Window read_pool_window(const Reader& keys, std::size_t axes) {
  Window window;
  window.kernel = read_extents(keys, "kernel", axes);
  window.dilation = read_extents(keys, "dilation", axes);
  window.stride = keys.has("stride") ? read_extents(keys, "stride", axes) : window.kernel;
  read_padding(keys, window);
  return window;
}

Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil) {
  Shape out;
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t extent = image[axis], stride = window.stride[axis];
    if (window.same) {
      out.push_back((extent - 1) / stride + 1);
      continue;
    }
    const std::int64_t begun = checked_add(extent, window.before[axis], "padding");
    const std::int64_t padded = checked_add(begun, window.after[axis], "padding");
    const std::int64_t reach = window.reach(axis);
    const std::int64_t most = ceil ? checked_add(padded, stride - 1, "stride") : padded;
    if (reach > most) refuse_kernel(keys, window, image, axis, most);
    std::int64_t positions = reach > padded ? 0 : (padded - reach) / stride + 1;
    if (ceil && (padded - reach) % stride != 0 && positions <= (begun - 1) / stride) ++positions;
    out.push_back(positions);
  }
  return out;
}

InputDependence dependence_of(const Window& window) {
  Shape reach;
  for (std::size_t axis = 0; axis < window.axes(); ++axis) reach.push_back(window.reach(axis));
  return {
      .kind = InputDependence::Kind::window, .reach = std::move(reach), .stride = window.stride};
}

}  // namespace sluice
