// Reads JSON with the parser of the nlohmann library. For each token, the parser calls a function, but does not tell it
// the position of the token. So the parser reads the text through an iterator that counts the bytes. At each call, the
// count is the position of the token's end.
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "document/builder.hpp"

namespace sluice {
namespace {

struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** read_to = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    *read_to = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

class Events {
 public:
  explicit Events(const std::shared_ptr<const Source>& source)
      : builder_(source), begin_(source->text.data()), read_to_(begin_), seen_(begin_) {}

  Builder& builder() { return builder_; }
  const char** read_to() { return &read_to_; }

  bool null() { return scalar(word_begin(4), Value::make_null()); }
  bool boolean(bool value) { return scalar(word_begin(value ? 4 : 5), Value::make(value)); }
  bool number_integer(std::int64_t) { return number(); }
  bool number_unsigned(std::uint64_t) { return number(); }
  bool number_float(double, const std::string&) { return number(); }
  bool string(std::string& value) { return scalar(string_begin(), Value::make(std::move(value))); }
  // A JSON text cannot contain binary values.
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return begin(Value::make_map()); }
  bool start_array(std::size_t) { return begin(Value::make_list()); }
  bool key(std::string& name) {
    builder_.key(place(string_begin()), std::move(name));
    return true;
  }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    // A message of nlohmann looks like this: "[json.exception.parse_error.101] parse error at line 1, column 2: syntax
    // error while …"
    std::string message = error.what();
    message.erase(0, message.find("] ") + 2);
    if (message.compare(0, 12, "parse error ") == 0) message.erase(0, message.find(": ") + 2);
    const char* const last = read_to_ > begin_ ? read_to_ - 1 : begin_;
    builder_.fail(place(last), "this is not JSON: " + message);
  }

 private:
  bool scalar(const char* token, Value value) {
    builder_.scalar(place(token), std::move(value));
    return true;
  }
  bool begin(Value value) {
    builder_.begin(place(read_to_ - 1), std::move(value));
    return true;
  }
  bool end() {
    builder_.end();
    return true;
  }

  const char* word_begin(int length) const { return read_to_ - length; }

  // Returns the position of the quote that begins the string. This is the last unescaped quote before the closing
  // quote. An escaped quote has an odd number of backslashes before it.
  const char* string_begin() const {
    for (const char* at = read_to_ - 2;; --at) {
      if (*at != '"') continue;
      const char* slash = at;
      while (slash > begin_ && slash[-1] == '\\') --slash;
      if ((at - slash) % 2 == 0) return at;
    }
  }

  // The parser has often read one character behind the number, because only this character shows
  // where the number ends.
  bool number() {
    const auto belongs = [](char c) {
      return (c >= '0' && c <= '9') || std::strchr("+-.eE", c) != nullptr;
    };
    const char* last = read_to_;
    if (!belongs(last[-1])) --last;
    const char* first = last;
    while (first > begin_ && belongs(first[-1])) --first;
    const Place where = place(first);
    const std::string_view text(first, static_cast<std::size_t>(last - first));
    builder_.scalar(where, number_value(builder_, where, text));
    return true;
  }

  // Tokens come in order, so the lines of all tokens are counted in a single scan of the text.
  Place place(const char* token) {
    for (; seen_ < token; ++seen_) {
      if (*seen_ == '\n')
        where_ = {where_.line + 1, 1};
      else if ((static_cast<unsigned char>(*seen_) & 0xC0) != 0x80)
        ++where_.column;
    }
    return where_;
  }

  Builder builder_;
  const char* begin_;
  const char* read_to_;
  const char* seen_;
  Place where_;
};

}  // namespace

Value read_json(std::shared_ptr<const Source> source) {
  const std::string& text = source->text;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError(Position{source->name, 0, 0, ""},
                     "the document is empty; `sluice new` writes an example to begin with");
  Events events(source);
  CountingIterator first{text.data(), events.read_to()};
  CountingIterator last{text.data() + text.size(), events.read_to()};
  if (!nlohmann::json::sax_parse(first, last, &events) || !events.builder().done())
    throw InternalError("the JSON reader stopped without an error in " + source->name);
  return events.builder().take();
}

}  // namespace sluice
