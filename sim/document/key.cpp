#include "document/key.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

Key key_of(Type type, std::string name, std::string summary) {
  Key key;
  key.name = std::move(name);
  key.type = type;
  key.summary = std::move(summary);
  return key;
}

/// Returns the key, of which `member` has this value.
template <class Member, class Given>
Key with(Key&& key, Member Field::*member, Given&& value) {
  key.*member = std::forward<Given>(value);
  return std::move(key);
}

}  // namespace

Key Key::boolean(std::string name, std::string summary) {
  return key_of(Type::boolean, std::move(name), std::move(summary));
}

Key Key::integer(std::string name, std::string summary) {
  return key_of(Type::integer, std::move(name), std::move(summary));
}

Key Key::number(std::string name, std::string summary) {
  return key_of(Type::number, std::move(name), std::move(summary));
}

Key Key::quantity(std::string name, Dimension dimension, std::string summary) {
  return with(key_of(Type::quantity, std::move(name), std::move(summary)), &Field::dimension,
              dimension);
}

Key Key::text(std::string name, std::string summary) {
  return key_of(Type::text, std::move(name), std::move(summary));
}

Key Key::choice(std::string name, std::vector<std::string> choices, std::string summary) {
  return key_of(Type::choice, std::move(name), std::move(summary)).or_words(std::move(choices));
}

Key Key::mapping(std::string name, std::string summary) {
  return key_of(Type::mapping, std::move(name), std::move(summary));
}

Key Key::list(std::string name, std::string summary) {
  return key_of(Type::list, std::move(name), std::move(summary));
}

Key Key::any(std::string name, std::string summary) {
  return key_of(Type::any, std::move(name), std::move(summary));
}

Key Key::by_default(std::string text) && {
  return with(std::move(*this), &Field::default_text, std::move(text));
}

Key Key::or_absent() && {
  return with(std::move(*this), &Field::optional, true);
}

Key Key::or_words(std::vector<std::string> words) && {
  return with(std::move(*this), &Field::choices, std::move(words));
}

Key Key::or_word_for(std::string key) && {
  return with(std::move(*this), &Field::word_for, std::move(key));
}

Key Key::at_least(double least) && {
  return with(std::move(*this), &Field::minimum, least);
}

Key Key::at_most(double most) && {
  return with(std::move(*this), &Field::maximum, most);
}

Key Key::between(double least, double most) && {
  return std::move(*this).at_least(least).at_most(most);
}

Key Key::more_than(double limit) && {
  return with(std::move(*this).at_least(limit), &Field::minimum_excluded, true);
}

Key Key::with_keys(const Record& keys) && {
  return with(std::move(*this), &Field::record, &keys);
}

Key Key::with_entries(const Record& entry) && {
  return with(std::move(*this).with_keys(entry), &Field::map_of, true);
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace sluice
