// YAML by the events of yaml-cpp: unlike its tree they show anchors, tags, duplicate keys and
// second documents, and cost neither its time nor its memory.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>

#include "document/builder.hpp"

namespace sluice {
namespace {

/// Reads memory in place.
struct Buffer : std::streambuf {
  explicit Buffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // only read from
    setg(begin, begin, begin + text.size());
  }
};

class Events : public YAML::EventHandler {
 public:
  Events(std::shared_ptr<const Source> source, int shift)
      : builder_(std::move(source)), shift_(shift) {}

  Builder& builder() { return builder_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (builder_.done())
      builder_.fail(place(mark), "a second document; a file holds one, remove the '---'");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (expects_key()) builder_.fail(place(mark), "a key is missing");
    builder_.scalar(place(mark), Value::make_null());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    builder_.fail(place(mark), "aliases ('*name') are not allowed; write the value out");
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
    else if (tag == "!")  // quoted or a block
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

  Place place(const YAML::Mark& mark) const {
    const int line = mark.line < 0 ? 1 : mark.line + 1;
    const int column = mark.column < 0 ? 1 : mark.column + 1;
    return {line, line == 1 ? column + shift_ : column};
  }

 private:
  bool expects_key() const { return builder_.in_map() && !builder_.has_key(); }

  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Value value) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key())
      builder_.fail(
          place(mark),
          "a key must be a word, not a list or a mapping; or a closing ] or } is missing");
    builder_.begin(place(mark), std::move(value));
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor)
      builder_.fail(place(mark), "anchors ('&name') are not allowed; write the value out");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      builder_.fail(place(mark), "tags ('" + tag + "') are not allowed");
  }

  Builder builder_;
  int shift_;
};

}  // namespace

Value read_yaml(std::shared_ptr<const Source> source, std::size_t begin, bool allow_empty) {
  Buffer buffer(std::string_view(source->text).substr(begin));
  std::istream stream(&buffer);
  int before = 0;  // characters
  for (std::size_t i = 0; i < begin; ++i)
    if ((static_cast<unsigned char>(source->text[i]) & 0xC0) != 0x80) ++before;
  Events events(source, before);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const YAML::ParserException& error) {
    if (error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR) events.OnAlias(error.mark, YAML::NullAnchor);
    events.builder().fail(events.place(error.mark), "this is not YAML: " + error.msg);
  }
  if (!events.builder().done() && !allow_empty)
    throw InputError(Position{source->name, 0, 0, ""}, "the document is empty");
  return events.builder().done() ? events.builder().take() : Value::make_null();
}

}  // namespace sluice
