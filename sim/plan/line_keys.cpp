#include "plan/line_keys.hpp"

#include <charconv>

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
                   std::vector<std::string> allowed, const std::vector<std::string>& flags)
    : line_(line) {
  allowed.insert(allowed.end(), flags.begin(), flags.end());
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::size_t equals = PlanLine::find_bare(words[i].text, '=');
    const std::string key(words[i].text.substr(0, equals));
    const auto known = std::find(allowed.begin(), allowed.end(), key);
    if (known == allowed.end())
      line.fail(words[i].column, "unknown key '" + key + "'" + did_you_mean(key, allowed) +
                                     "; allowed: " + join(allowed));
    for (const auto& [other, word] : keys_)
      if (other == key) line.fail(words[i].column, "key '" + key + "' stands twice");
    const bool flag = equals == std::string_view::npos,
               is_flag = std::find(flags.begin(), flags.end(), key) != flags.end();
    if (flag != is_flag)
      line.fail(words[i].column, is_flag ? "'" + key + "' stands alone, without '='"
                                         : "'" + key + "' has no value; expected " + key + "=...");
    keys_.emplace_back(key, flag ? Word{{}, words[i].column}
                                 : Word{words[i].text.substr(equals + 1),
                                        words[i].column + static_cast<int>(equals) + 1});
  }
}

const Word* LineKeys::find(std::string_view key) const {
  for (const auto& [name, word] : keys_)
    if (name == key) return &word;
  return nullptr;
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

void declare(const PlanLine& line, Names& names, const Word& word, const char* what) {
  const std::string name = line.name(word);
  if (!names.emplace(name, static_cast<std::uint32_t>(names.size())).second)
    line.fail(word.column, std::string("second ") + what + " called '" + name + "'");
}

std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word,
                      const char* what) {
  const std::string name = line.name(word);
  if (auto found = names.find(name); found != names.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, number] : names)
    if (known.size() < 1000) known.push_back(key);
  std::sort(known.begin(), known.end());
  std::string message =
      std::string("unknown ") + what + " '" + name + "'" + did_you_mean(name, known);
  if (known.size() <= 12) message += "; known: " + (known.empty() ? "none" : join(known));
  line.fail(word.column, message);
}

}  // namespace sluice
