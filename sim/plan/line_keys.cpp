#include "plan/line_keys.hpp"

#include <charconv>
#include <cmath>

namespace sluice {

std::int64_t whole_number(const PlanLine& line, std::string_view key, const Word& word,
                          std::int64_t minimum, std::int64_t maximum) {
  std::int64_t value = 0;
  const char* end = word.text.data() + word.text.size();
  const auto [at, error] = std::from_chars(word.text.data(), end, value);
  if (error != std::errc{} || at != end || value < minimum || value > maximum)
    line.fail(word.column, "'" + std::string(word.text) + "' for '" + std::string(key) +
                               "': expected a whole number from " + std::to_string(minimum) +
                               " to " + std::to_string(maximum));
  return value;
}

LineKeys::LineKeys(const PlanLine& line, const std::vector<Word>& words, std::size_t first,
                   const KeyList& allowed)
    : line_(line), allowed_(allowed) {
  for (std::size_t i = first; i < words.size(); ++i) {
    const Word& word = words[i];
    const std::size_t equals = PlanLine::find_bare(word.text, '=');
    const std::string_view key = word.text.substr(0, equals);
    const std::size_t number = number_of(key);
    if (number >= allowed.keys.size()) fail_unknown(word, key);
    if (find(number)) line.fail(word.column, "key '" + std::string(key) + "' stands twice");
    const bool alone = equals == std::string_view::npos, is_flag = number >= allowed.flags;
    if (alone != is_flag)
      line.fail(word.column, is_flag ? "'" + std::string(key) + "' stands alone, without '='"
                                     : "'" + std::string(key) + "' has no value; expected " +
                                           std::string(key) + "=...");
    values_[number] =
        alone ? Word{{}, word.column}
              : Word{word.text.substr(equals + 1), word.column + static_cast<int>(equals) + 1};
    present_ |= std::uint64_t{1} << number;
  }
}

std::size_t LineKeys::number_of(std::string_view key) const {
  for (std::size_t i = 0; i < allowed_.keys.size(); ++i)
    if (allowed_.keys[i] == key) return i;
  return 63;
}

void LineKeys::fail_unknown(const Word& word, std::string_view key) const {
  const std::vector<std::string> known(allowed_.keys.begin(), allowed_.keys.end());
  line_.fail(word.column, "unknown key '" + std::string(key) + "'" + did_you_mean(key, known) +
                              "; allowed: " + join(known));
}

const Word& LineKeys::get(std::string_view key) const {
  if (const Word* word = find(key)) return *word;
  line_.fail(1, "the key '" + std::string(key) + "' is missing in this line");
}

double LineKeys::quantity(std::string_view key, Dimension dimension, double absent) const {
  const Word* word = find(key);
  if (!word) return absent;
  return read(*word, [&] { return parse_quantity(word->text, dimension, key); });
}

double LineKeys::number(std::string_view key) const {
  const Word* word = find(key);
  if (!word) return 0;
  double value = 0;
  const char* end = word->text.data() + word->text.size();
  const auto [at, error] = std::from_chars(word->text.data(), end, value);
  if (error == std::errc{} && at == end && std::isfinite(value) && value >= 0) return value;
  if (!word->text.empty() && word->text.back() == '%')
    line_.fail(word->column, "'" + std::string(word->text) + "' for '" + std::string(key) +
                                 "': a percentage, expected a number like \"0.7\"");
  return quantity(key, Dimension::none, 0);
}

std::int64_t LineKeys::count(std::string_view key, std::int64_t absent, std::int64_t minimum,
                             std::int64_t maximum) const {
  const Word* word = find(key);
  return word ? whole_number(line_, key, *word, minimum, maximum) : absent;
}

std::int32_t LineKeys::label(std::string_view key) const {
  return static_cast<std::int32_t>(count(key, -1, 0, std::numeric_limits<std::int32_t>::max()));
}

std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word,
                      const char* what) {
  if (is_bare(word.text))
    if (const std::uint32_t number = names.find(word.text); number != Names::unknown) return number;
  const std::string name = line.name(word);
  if (const std::uint32_t number = names.find(name); number != Names::unknown) return number;
  std::vector<std::string> known;
  for (const std::string_view other : names.all())
    if (known.size() < 1000) known.emplace_back(other);
  std::sort(known.begin(), known.end());
  std::string message =
      std::string("unknown ") + what + " '" + name + "'" + did_you_mean(name, known);
  if (known.size() <= 12) message += "; known: " + (known.empty() ? "none" : join(known));
  line.fail(word.column, message);
}

}  // namespace sluice
