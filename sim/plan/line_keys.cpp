#include "plan/line_keys.hpp"

#include <cmath>
#include <type_traits>

#include "base/number_in.hpp"

namespace sluice {

std::int64_t whole_number(const PlanLine& line, std::string_view key, const Word& word,
                          std::int64_t minimum, std::int64_t maximum) {
  const std::optional<std::int64_t> value = number_in<std::int64_t>(word.text);
  if (!value || *value < minimum || *value > maximum)
    line.fail(word.column, "'" + std::string(word.text) + "' for '" + std::string(key) +
                               "': expected a whole number from " + std::to_string(minimum) +
                               " to " + std::to_string(maximum));
  return *value;
}

LineKeys::LineKeys(const PlanLine& line, const std::vector<Word>& words, std::size_t first,
                   const KeyList& allowed)
    : line_(line), allowed_(allowed) {
  for (std::size_t i = first; i < words.size(); ++i) {
    const Word& word = words[i];
    const std::string_view key = word.text.substr(0, word.equals);
    const std::size_t number = allowed.number_of(key);
    if (number == KeyList::nothing) fail_unknown(word, key);
    if (find(number)) line.fail(word.column, "key '" + std::string(key) + "' is given twice");
    const bool alone = word.equals == std::string_view::npos, is_flag = number >= allowed.flags;
    if (alone != is_flag)
      line.fail(word.column, is_flag ? "'" + std::string(key) + "' takes no value: remove '=...'"
                                     : "'" + std::string(key) + "' has no value; expected " +
                                           std::string(key) + "=...");
    if (alone)
      put(number, {{}, word.column});
    else
      put(number, {.text = word.text.substr(word.equals + 1),
                   .column = word.column + static_cast<int>(word.equals) + 1,
                   .bare = word.bare});
    present_ |= std::uint64_t{1} << number;
  }
}

std::size_t LineKeys::key_at(std::size_t at, std::size_t after, KeyOrder& order) const {
  const std::string_view text = line_.text;
  bool bare = false;
  const std::size_t equals = end_of_part(text, at, bare);
  if (equals == text.size() || text[equals] != '=') return KeyList::nothing;
  const std::size_t key = allowed_.number_of(text.substr(at, equals - at));
  if (key != KeyList::nothing) order.next[after] = static_cast<std::uint8_t>(key);
  return key;
}

bool LineKeys::take(Word& name, KeyOrder& order) {
  static_assert(std::is_trivially_destructible_v<Word>);
  const std::string_view text = line_.text;
  const auto after_blanks = [&](std::size_t at) {
    while (at < text.size() && is_blank(text[at])) ++at;
    return at;
  };
  const std::size_t begin = after_blanks(0);
  std::size_t at = end_of_part(text, begin, name.bare);
  name.text = text.substr(begin, at - begin);
  name.column = static_cast<int>(begin) + 1;
  if (!name.bare || at == text.size() || !is_blank(text[at])) return false;
  const std::size_t most = std::min(allowed_.flags, allowed_.keys.size());
  for (std::size_t last = KeyOrder::first;;) {
    at = after_blanks(at);
    if (at == text.size()) return present_ != 0;
    std::size_t key = order.next[last];
    if (!allowed_.is_at(text, at, key)) key = key_at(at, last, order);
    if (key >= most || find(key)) return false;
    const std::size_t value = at + allowed_.keys[key].size() + 1;
    bool bare = false;
    at = end_of_part(text, value, bare);
    if (at < text.size() && !is_blank(text[at])) return false;
    put(key, {.text = text.substr(value, at - value),
              .column = static_cast<int>(value) + 1,
              .bare = bare});
    present_ |= std::uint64_t{1} << key;
    last = key;
  }
}

void LineKeys::fail_unknown(const Word& word, std::string_view key) const {
  const std::vector<std::string> known(allowed_.keys.begin(), allowed_.keys.end());
  line_.fail(word.column, "unknown key '" + std::string(key) + "'" + did_you_mean(key, known) +
                              "; allowed: " + join(known));
}

const Word& LineKeys::get(std::size_t key) const {
  if (const Word* word = find(key)) return *word;
  line_.fail(1, "the key '" + std::string(allowed_.keys[key]) + "' is missing in this line");
}

double LineKeys::quantity(std::size_t key, Dimension dimension, double absent) const {
  const Word* word = find(key);
  if (!word) return absent;
  return read(*word, [&] { return parse_quantity(word->text, dimension, allowed_.keys[key]); });
}

double LineKeys::number(std::size_t key) const {
  const Word* word = find(key);
  if (!word) return 0;
  const std::optional<double> value = number_in<double>(word->text);
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  if (!word->text.empty() && word->text.back() == '%')
    line_.fail(word->column, "'" + std::string(word->text) + "' for '" +
                                 std::string(allowed_.keys[key]) +
                                 "': expected a number like \"0.7\", not a percentage");
  return quantity(key, Dimension::none, 0);
}

std::int64_t LineKeys::count(std::size_t key, std::int64_t absent, std::int64_t minimum,
                             std::int64_t maximum) const {
  const Word* word = find(key);
  return word ? whole_number(line_, allowed_.keys[key], *word, minimum, maximum) : absent;
}

std::int32_t LineKeys::label(std::size_t key) const {
  return static_cast<std::int32_t>(count(key, -1, 0, std::numeric_limits<std::int32_t>::max()));
}

std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word,
                      const char* what) {
  if (is_bare(word))
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
