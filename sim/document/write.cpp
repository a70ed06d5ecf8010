// Writes values as text. YAML is written in block style. Sluice's reader or PyYAML would not read some texts,
// such as `yes`, as strings. Such texts are quoted.
#include <array>

#include "base/quantity.hpp"
#include "base/utf8.hpp"
#include "document/load.hpp"

namespace sluice {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Returns whether `text` is a word that YAML 1.1 or 1.2 does not read as a string, such as `yes`. Capital
// letters count as small letters.
bool is_special(std::string_view text) {
  constexpr std::array<std::string_view, 9> words = {"null", "true", "false", "yes", "no",
                                                     "on",   "off",  "y",     "n"};
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const std::string_view word : words)
    if (lower == word) return true;
  return false;
}

// Returns whether a text may be written without quotes. A text without quotes must begin with a letter and contain only
// letters, digits, blanks and the characters ./-+
bool is_plain(std::string_view text) {
  if (text.empty() || !is_letter(text[0]) || text.back() == ' ' || is_special(text)) return false;
  for (const char c : text)
    if (!is_letter(c) && !(c >= '0' && c <= '9') &&
        std::string_view("./-+ ").find(c) == std::string_view::npos)
      return false;
  return true;
}

/// Returns the text in double quotes. The result is valid in JSON and in YAML.
std::string quoted(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : valid_utf8(text)) {  // The name of a file may consist of any bytes.
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      result += "\\u00";
      result += hex[byte >> 4];
      result += hex[byte & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string yaml_word(const std::string& text) {
  return is_plain(text) ? text : quoted(text);
}

std::string yaml_scalar(const Value& value) {
  return value.kind() == Value::Kind::string ? yaml_word(value.text()) : value.text();
}

/// Writes YAML line by line.
class YamlWriter {
 public:
  explicit YamlWriter(bool provenance) : provenance_(provenance) {}

  std::string write(const Value& root) {
    if (root.is_map() && !root.entries().empty())
      map(root, 0);
    else if (root.is_list() && !root.items().empty())
      list(root, 0);
    else
      inline_value(root);
    return std::move(out_);
  }

 private:
  // Writes the value that follows "key:" or "-". A scalar or a short list is written on the same line, and any other
  // value as a block below that line.
  void child(const Value& value, int depth) {
    if (value.is_map() && !value.entries().empty()) {
      out_ += '\n';
      map(value, depth + 1);
    } else if (value.is_list() && !value.items().empty() && !is_short(value)) {
      out_ += '\n';
      list(value, depth + 1);
    } else {
      out_ += ' ';
      inline_value(value);
    }
  }

  // Returns whether a list is short enough for one line: [1, 2, 3].
  bool is_short(const Value& value) const {
    if (provenance_ || value.items().size() > 16) return false;
    for (const Value& item : value.items())
      if (!item.is_scalar()) return false;
    return true;
  }

  void inline_value(const Value& value) {
    if (value.is_map()) {
      out_ += "{}";
    } else if (value.is_list()) {
      out_ += '[';
      for (const Value& item : value.items()) {
        if (&item != value.items().data()) out_ += ", ";
        out_ += yaml_scalar(item);
      }
      out_ += ']';
    } else {
      out_ += yaml_scalar(value);
    }
    if (provenance_) comment(value);
    out_ += '\n';
  }

  void map(const Value& value, int depth) {
    for (const Value::Entry& entry : value.entries()) {
      indent(depth);
      key(entry, depth);
    }
  }

  void key(const Value::Entry& entry, int depth) {
    out_ += yaml_word(entry.key) + ":";
    child(entry.value, depth);
  }

  void list(const Value& value, int depth) {
    for (const Value& item : value.items()) {
      indent(depth);
      out_ += '-';
      if (!item.is_map() || item.entries().empty()) {
        child(item, depth);
        continue;
      }
      // The first key of a mapping in a list is written on the line of the dash.
      out_ += ' ';
      for (const Value::Entry& entry : item.entries()) {
        if (&entry != item.entries().data()) indent(depth + 1);
        key(entry, depth + 1);
      }
    }
  }

  void comment(const Value& value) {
    const auto& source = value.source();
    if (!source) return;
    out_ += "  # ";
    for (const char c : valid_utf8(source->name))
      out_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    // An override is a single line. So only a file gets a line number.
    if (source->name != source->text) out_ += ":" + std::to_string(value.line());
  }

  void indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

  bool provenance_;
  std::string out_;
};

void json(const Value& value, int indent, int depth, std::string& out);

void json_break(int indent, int depth, std::string& out) {
  if (indent == 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void json_container(const Value& value, int indent, int depth, std::string& out) {
  bool first = true;
  const auto next = [&] {
    if (!first) out += indent == 0 ? ", " : ",";
    first = false;
    json_break(indent, depth + 1, out);
  };
  out += value.is_map() ? '{' : '[';
  for (const Value::Entry& entry : value.entries()) {
    next();
    out += quoted(entry.key) + ": ";
    json(entry.value, indent, depth + 1, out);
  }
  for (const Value& item : value.items()) {
    next();
    json(item, indent, depth + 1, out);
  }
  if (!first) json_break(indent, depth, out);
  out += value.is_map() ? '}' : ']';
}

void json(const Value& value, int indent, int depth, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::list:
    case Value::Kind::map:
      json_container(value, indent, depth, out);
      break;
    case Value::Kind::string:
      out += quoted(value.text());
      break;
    case Value::Kind::number:
      // YAML allows numbers such as ".5" and "5.", but JSON does not.
      out += Value::make(value.as_number()).text();
      break;
    case Value::Kind::integer:
      out += std::to_string(value.as_integer());
      break;
    case Value::Kind::boolean:
      out += value.as_bool() ? "true" : "false";
      break;
    case Value::Kind::null:
      out += "null";
      break;
  }
}

}  // namespace

std::string to_yaml(const Value& document) {
  return YamlWriter(/*provenance=*/false).write(document);
}

std::string to_yaml_with_provenance(const Value& document) {
  return YamlWriter(/*provenance=*/true).write(document);
}

std::string to_json(const Value& document, int indent) {
  std::string out;
  json(document, indent, 0, out);
  out += '\n';
  return out;
}

}  // namespace sluice
