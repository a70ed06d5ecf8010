#include "model/layers/window.hpp"

#include "base/quantity.hpp"
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

void read_padding(const Reader& keys, Window& window) {
  static const std::string expected =
      "an integer, or: valid, same, [height, width], [top, left, bottom, right]";
  window.same = keys.is_word("padding", "same");
  if (window.same || keys.is_word("padding", "valid")) return;
  const Value& value = *keys.value("padding");
  if (!value.is_list()) {
    const std::int64_t all = whole(value, "padding", 0, expected);
    window.before = window.after = {all, all};
    return;
  }
  std::vector<std::int64_t> zeros;
  for (const Value& item : value.items()) zeros.push_back(whole(item, "padding", 0, "an integer"));
  if (zeros.size() != 2 && zeros.size() != 4)
    fail_at(value,
            "a list of " + std::to_string(zeros.size()) + " for 'padding': expected " + expected);
  window.before = {zeros[0], zeros[1]};
  window.after = {zeros[zeros.size() - 2], zeros[zeros.size() - 1]};
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
    text += "with a dilation of " + std::to_string(dilation) + " it reaches over " +
            std::to_string(window.reach(axis)) + ", ";
  keys.fail("kernel", text + "larger than the input " + text_of(image) + " with a padding of " +
                          padding_text(window, axis) + ", expected at most " +
                          std::to_string((padded - 1) / dilation + 1));
}

}  // namespace

Pair read_pair(const Reader& keys, std::string_view name, std::int64_t least) {
  const Value* value = keys.value(name);
  if (!value) {
    const std::int64_t standard = keys.integer(name);
    return {standard, standard};
  }
  if (!value->is_list()) {
    const std::int64_t both = whole(*value, name, least, "an integer or [height, width]");
    return {both, both};
  }
  if (value->items().size() != 2)
    fail_at(*value, "a list of " + std::to_string(value->items().size()) + " for '" +
                        std::string(name) + "': expected an integer or [height, width]");
  return {whole(value->items()[0], name, least, "an integer"),
          whole(value->items()[1], name, least, "an integer")};
}

std::int64_t Window::area() const {
  return checked_mul(kernel[0], kernel[1], "elements of a kernel");
}

std::int64_t Window::reach(std::size_t axis) const {
  return checked_add(checked_mul(dilation[axis], kernel[axis] - 1, "dilation"), 1, "dilation");
}

std::vector<Field> window_fields(std::optional<std::string> stride_default) {
  const bool none = !stride_default;
  return {
      {.name = "kernel",
       .type = Type::any,
       .summary = "size of the window: an integer or [height, width]"},
      {.name = "stride",
       .type = Type::any,
       .summary = std::string("step of the window: an integer or [height, width]") +
                  (none ? "; by default the kernel's size" : ""),
       .default_text = std::move(stride_default),
       .optional = none},
      {.name = "padding",
       .type = Type::any,
       .summary = "zeros on each side: an integer, [height, width] or [top, left, bottom, right]; "
                  "valid is none, same makes the output ceil(input / stride)",
       .default_text = "valid",
       .choices = {"valid", "same"}},
  };
}

Field dilation_field() {
  return {.name = "dilation",
          .type = Type::any,
          .summary = "step between the elements of the kernel: an integer or [height, width]",
          .default_text = "1"};
}

Field ceil_field() {
  return {.name = "ceil",
          .type = Type::boolean,
          .summary = "whether a last window that the image fills only in part counts, too",
          .default_text = "false"};
}

Window read_window(const Reader& keys) {
  Window window;
  window.kernel = read_pair(keys, "kernel");
  window.dilation = read_pair(keys, "dilation");
  window.stride = read_pair(keys, "stride");
  read_padding(keys, window);
  return window;
}

Window read_pool_window(const Reader& keys) {
  Window window;
  window.kernel = read_pair(keys, "kernel");
  window.stride = keys.has("stride") ? read_pair(keys, "stride") : window.kernel;
  read_padding(keys, window);
  return window;
}

Shape slide(const Reader& keys, const Window& window, const Shape& image, bool ceil) {
  Shape out;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = image[axis], stride = window.stride[axis];
    if (window.same) {
      out.push_back((extent - 1) / stride + 1);
      continue;
    }
    const std::int64_t begun = checked_add(extent, window.before[axis], "padding");
    const std::int64_t padded = checked_add(begun, window.after[axis], "padding");
    const std::int64_t reach = window.reach(axis);
    if (reach > padded) refuse_kernel(keys, window, image, axis, padded);
    std::int64_t positions = (padded - reach) / stride + 1;
    if (ceil && (padded - reach) % stride != 0 && positions <= (begun - 1) / stride) ++positions;
    out.push_back(positions);
  }
  return out;
}

Sight sight_of(const Window& window) {
  return {.kind = Sight::Kind::window,
          .reach = {window.reach(0), window.reach(1)},
          .stride = {window.stride[0], window.stride[1]}};
}

}  // namespace sluice
