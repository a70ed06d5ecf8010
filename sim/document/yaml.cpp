// Reads YAML with the parser of yaml-cpp, which calls a function for each event, such as a scalar or the end of a list.
// yaml-cpp could also make a tree. Unlike the tree, the events show anchors, tags, duplicate keys, and a second
// document in the same file. The events also need less time and memory than the tree.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstring>
#include <istream>
#include <streambuf>
#include <string_view>
#include <vector>

#include "document/builder.hpp"

namespace sluice {
namespace {

/// A stream buffer that reads a text in memory without a copy.
struct Buffer : std::streambuf {
  explicit Buffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // The buffer never changes the text.
    setg(begin, begin, begin + text.size());
  }
};

/// yaml-cpp counts columns in bytes. This class converts them to columns in characters, as in the JSON reader.
/// Each position is near the position before it. So the class counts only the characters between the two. This is fast
/// even in one long line.
class Columns {
 public:
  explicit Columns(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') begins_.push_back(i + 1);
  }

  /// Returns the column of byte `byte` of line `line`. The column counts from 1, and both parameters count from 0.
  int characters(int line, int byte) {
    if (line != line_) line_ = line, byte_ = characters_ = 0;
    if (line < 0 || static_cast<std::size_t>(line) >= begins_.size()) return byte + 1;
    const std::size_t begin = begins_[static_cast<std::size_t>(line)];
    const auto starts = [&](int at) {
      const std::size_t i = begin + static_cast<std::size_t>(at);
      return i >= text_.size() || (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    };
    for (; byte_ < byte; ++byte_) characters_ += starts(byte_) ? 1 : 0;
    for (; byte_ > byte; --byte_) characters_ -= starts(byte_ - 1) ? 1 : 0;
    return characters_ + 1;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_ = {0};
  int line_ = -1, byte_ = 0, characters_ = 0;
};

class Events : public YAML::EventHandler {
 public:
  /// The document begins at byte `begin`, which must be in the first line of the source.
  Events(const std::shared_ptr<const Source>& source, std::size_t begin)
      : builder_(source), columns_(source->text), shift_(static_cast<int>(begin)) {}

  Builder& builder() { return builder_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (builder_.done())
      builder_.fail(
          place(mark),
          "a second document begins here; a file holds only one document: remove the '---'");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (expects_key()) builder_.fail(place(mark), "a key is missing here; write a word as the key");
    builder_.scalar(place(mark), Value::make_null());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    builder_.fail(place(mark), "aliases ('*name') are not allowed; write the value itself");
  }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    if (!name.empty()) refuse_anchor(mark, 1);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key())
      builder_.key(place(mark), text);
    else if (tag == "!")  // a text in quotes, or a block of text
      builder_.scalar(place(mark), Value::make(text));
    else
      builder_.scalar(place(mark), plain_value(builder_, place(mark), text));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, Value::make_list());
  }
  void OnSequenceEnd() override { builder_.end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, Value::make_map());
  }
  void OnMapEnd() override { builder_.end(); }

  Place place(const YAML::Mark& mark) {
    if (mark.is_null()) return {1, 1};
    const int byte = mark.line == 0 ? mark.column + shift_ : mark.column;
    return {mark.line + 1, columns_.characters(mark.line, byte)};
  }

 private:
  bool expects_key() const { return builder_.in_map() && !builder_.has_key(); }

  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Value value) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key())
      builder_.fail(
          place(mark),
          "a key must be a word, not a list or a mapping; if this is not a key, a closing ] or } is missing");
    builder_.begin(place(mark), std::move(value));
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      builder_.fail(place(mark),
                    "anchors ('&name') are not allowed; write the value without the anchor");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      builder_.fail(place(mark),
                    "tags ('" + tag + "') are not allowed; write the value without a tag");
  }

  Builder builder_;
  Columns columns_;
  int shift_;
};

/// Returns whether the parser found half a character. JSON may write a character beyond U+FFFF as two halves, for
/// example "\ud83d\ude00". YAML does not allow such halves.
bool is_half_a_character(const YAML::ParserException& error) {
  return error.msg.compare(0, std::strlen(YAML::ErrorMsg::INVALID_UNICODE),
                           YAML::ErrorMsg::INVALID_UNICODE) == 0;
}

constexpr const char* halves_hint =
    "; \\ud800 to \\udfff are halves of a character, which only JSON allows: in YAML, write the character itself, or "
    "\\U and eight hex digits";

}  // namespace

Value read_yaml(std::shared_ptr<const Source> source, std::size_t begin, bool allow_empty) {
  Buffer buffer(std::string_view(source->text).substr(begin));
  std::istream stream(&buffer);
  Events events(source, begin);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const YAML::ParserException& error) {
    if (is_half_a_character(error) && looks_like_json(source->text)) return read_json(source);
    if (error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR) events.OnAlias(error.mark, YAML::NullAnchor);
    const Place place = events.place(error.mark);
    const std::string line = position_in(*source, place.line, 1).source;
    const std::size_t text = line.find_first_not_of(" \t");
    const bool tab = line.substr(0, text).find('\t') != std::string::npos;
    events.builder().fail(
        place,
        "this is not YAML: " + error.msg +
            (tab ? "; there is a tab before the text: use blanks, because YAML does not allow tabs there"
                 : "") +
            (is_half_a_character(error) ? halves_hint : ""));
  }
  if (!events.builder().done() && !allow_empty)
    throw InputError(Position{source->name, 0, 0, ""},
                     "the document is empty; `sluice new` writes an example to begin with");
  return events.builder().done() ? events.builder().take() : Value::make_null();
}

}  // namespace sluice
