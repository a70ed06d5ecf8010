#include "document/override.hpp"

#include <algorithm>
#include <charconv>

#include "base/split.hpp"
#include "base/suggest.hpp"
#include "document/builder.hpp"
#include "document/load.hpp"
#include "document/places.hpp"
#include "document/record.hpp"

namespace sluice {
namespace {

std::vector<std::string> keys_of(const Value& map) {
  std::vector<std::string> keys;
  for (const Value::Entry& entry : map.entries()) keys.push_back(entry.key);
  return keys;
}

/// Finds the mappings in `list` with the given name under the key `name`, and appends them to `found`. An element, such
/// as a repetition, may contain a list `layers`. This list is searched, too. `known` receives the names of all
/// elements.
void find_named(Value& list, const std::string& name, std::vector<Value*>& found,
                std::vector<std::string>& known) {
  for (Value& element : list.items()) {
    if (!element.is_map()) continue;
    const Value* own = element.find("name");
    if (own && own->kind() == Value::Kind::string) {
      known.push_back(own->text());
      if (own->text() == name) found.push_back(&element);
    }
    Value* inner = element.find("layers");
    if (inner && inner->is_list()) find_named(*inner, name, found, known);
  }
}

/// Follows an override's path through the document, and sets the value at its end.
class Walk {
 public:
  Walk(Value& document, const Override& override, const Layout& layout)
      : at_(&document), override_(override), layout_(layout) {}

  void run() {
    const auto& path = override_.path;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) at_ = &child(path[i]);
    assign(path.back());
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(position_in(*override_.value.source(), 1, column_), message);
  }

  std::string here() const { return walked_.empty() ? "the document" : "'" + walked_ + "'"; }

  void step(const std::string& segment) {
    walked_ += (walked_.empty() ? "" : ".") + segment;
    column_ += static_cast<int>(segment.size()) + 1;
  }

  /// Returns an element of the list `at_`. `segment` is the index of the element, or its name.
  Value& element(const std::string& segment) {
    std::size_t index = 0;
    const char* const end = segment.data() + segment.size();
    const auto [stop, error] = std::from_chars(segment.data(), end, index);
    if (error == std::errc() && stop == end && index < at_->items().size())
      return at_->items()[index];
    std::vector<Value*> found;
    std::vector<std::string> known;
    find_named(*at_, segment, found, known);
    if (found.size() == 1) return *found.front();
    if (found.size() > 1)
      fail(std::to_string(found.size()) + " elements of the list " + here() + " are called '" +
           segment + "'; give the index of an element, counted from 0");
    fail("'" + segment + "' is not an element of the list " + here() +
         did_you_mean(segment, known) + ", whose length is " + std::to_string(at_->items().size()) +
         "; give the index of an element, counted from 0" + (known.empty() ? "" : ", or its name"));
  }

  Value& child(const std::string& segment) {
    if (at_->is_list()) {
      Value& found = element(segment);
      step(segment);
      return found;
    }
    if (!at_->is_map())
      fail("'" + segment + "' cannot be found in " + here() + ", which is " +
           std::string(at_->kind_name()));
    Value* found = at_->find(segment);
    const std::vector<std::string>& may_be_absent = layout_.may_be_absent;
    if (!found && walked_.empty() &&
        std::find(may_be_absent.begin(), may_be_absent.end(), segment) != may_be_absent.end()) {
      Value empty = Value::make_map();
      empty.place(override_.value.source(), 1, column_);
      at_->set(segment, std::move(empty));
      found = at_->find(segment);
    }
    if (!found) {
      const std::vector<std::string> known = keys_of(*at_);
      const std::vector<std::string> places =
          walked_.empty() ? places_of(segment, *at_, nullptr) : std::vector<std::string>{};
      fail("unknown key '" + segment + "' in " + here() + did_you_mean_at(segment, known, places) +
           "; it has: " + join(known));
    }
    step(segment);
    return *found;
  }

  void assign(const std::string& segment) {
    if (at_->is_map())
      at_->set(segment, override_.value);
    else if (at_->is_list())
      element(segment) = override_.value;
    else
      fail("'" + segment + "' cannot be set in " + here() + ", which is " +
           std::string(at_->kind_name()));
  }

  Value* at_;
  const Override& override_;
  const Layout& layout_;
  std::string walked_;
  int column_ = 1;
};

}  // namespace

Override parse_override(const std::string& text) {
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos)
    throw UsageError("'" + text.substr(0, nul) + "\\0': this override contains a NUL character");
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("'" + text +
                     "' is not an override; expected KEY=VALUE, like "
                     "platform.links.host.bandwidth=64GB/s");
  Override result;
  for (const std::string_view key : split(std::string_view(text).substr(0, equals), ".")) {
    if (key.empty())
      throw UsageError("'" + text + "' has an empty key; expected KEY=VALUE with a KEY like a.b.c");
    result.path.emplace_back(key);
  }
  const auto source = std::make_shared<const Source>(Source{text, text});
  require_text(*source);
  result.value = read_yaml(source, equals + 1, /*allow_empty=*/true);
  if (!result.value.source()) result.value.place(source, 1, static_cast<int>(equals) + 2);
  return result;
}

Layout layout_of(const Record& record) {
  Layout layout;
  for (const Field& field : record.fields) {
    if (field.type != Type::mapping) continue;
    if (field.optional) layout.may_be_absent.push_back(field.name);
    if (!field.word_for.empty()) layout.words.emplace_back(field.name, field.word_for);
  }
  return layout;
}

void expand_words(Value& document, const Layout& layout) {
  for (const auto& [key, inner] : layout.words) {
    Value* word = document.find(key);
    if (!word || word->kind() != Value::Kind::string || word->text().empty()) continue;
    const Position position = word->position();
    Value mapping = Value::make_map();
    mapping.place(word->source(), position.line, position.column);
    mapping.set(inner, std::move(*word));
    *word = std::move(mapping);
  }
}

void apply_override(Value& document, const Override& override, const Layout& layout) {
  if (override.path.size() > 1) expand_words(document, layout);
  Walk(document, override, layout).run();
}

void apply_overrides(Value& document, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) apply_override(document, parse_override(text));
}

}  // namespace sluice
