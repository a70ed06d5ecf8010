#include "profile/cells.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/split.hpp"
#include "base/suggest.hpp"

namespace sluice::cell {
namespace {

std::string quoted(const std::string& text) {
  return "'" + (text.size() > 80 ? text.substr(0, 80) + "..." : text) + "'";
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Number>
bool parses(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::int64_t> shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  for (const std::string& part : parts_of(text, 'x')) {
    std::int64_t extent = 0;
    if (!parses(part, extent) || extent < 1)
      throw InputError(quoted(text) + ": expected a shape, such as 8x64x56x56");
    shape.push_back(extent);
  }
  return shape;
}

template <class List, class Make>
std::string joined(const List& list, char separator, Make&& make) {
  std::string text;
  for (const auto& one : list)
    text += (&one == &list.front() ? "" : std::string(1, separator)) + make(one);
  return text;
}

}  // namespace

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, {&separator, 1}))
    parts.emplace_back(without_blanks(part));
  return parts;
}

double number(const std::string& text) {
  double value = 0;
  if (!parses(text, value) || !std::isfinite(value) || std::signbit(value))
    throw InputError(quoted(text) + ": expected a number of at least 0");
  return value;
}

std::int64_t whole(const std::string& text, std::int64_t minimum) {
  std::int64_t value = 0;
  if (!parses(text, value) || value < minimum)
    throw InputError(quoted(text) + ": expected a whole number of at least " +
                     std::to_string(minimum));
  return value;
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> list;
  for (const std::string& part : parts_of(text)) list.push_back(number(part));
  return list;
}

std::vector<std::vector<std::int64_t>> shapes(const std::string& text) {
  std::vector<std::vector<std::int64_t>> list;
  for (const std::string& part : parts_of(text)) list.push_back(shape(part));
  return list;
}

std::vector<std::pair<std::string, std::int64_t>> sizes(const std::string& text) {
  std::vector<std::pair<std::string, std::int64_t>> list;
  for (const std::string& part : parts_of(text)) {
    const std::size_t equals = part.find('=');
    std::int64_t size = 0;
    if (equals == 0 || equals == std::string::npos ||
        !parses(std::string_view(part).substr(equals + 1), size) || size < 0)
      throw InputError(quoted(part) + ": expected named whole numbers, such as m=8192;n=4096");
    list.emplace_back(part.substr(0, equals), size);
  }
  return list;
}

std::size_t word(const std::string& text, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    throw InputError(quoted(text) + did_you_mean(text, words) + ": expected one of " + join(words));
  return static_cast<std::size_t>(found - words.begin());
}

std::string text_of(const std::vector<double>& numbers) {
  return joined(numbers, ';', [](double number) { return exact(number); });
}

std::string text_of(const std::vector<std::string>& words) {
  return joined(words, ';', [](const std::string& word) { return word; });
}

std::string text_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  return joined(shapes, ';', [](const auto& shape) {
    return joined(shape, 'x', [](std::int64_t extent) { return std::to_string(extent); });
  });
}

std::string text_of(const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  return joined(sizes, ';',
                [](const auto& size) { return size.first + "=" + std::to_string(size.second); });
}

}  // namespace sluice::cell
