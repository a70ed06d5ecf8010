#include "document/load.hpp"

#include <algorithm>
#include <cstddef>

#include "base/number_in.hpp"
#include "document/builder.hpp"
#include "document/foreign.hpp"
#include "document/record.hpp"

namespace sluice {
namespace {

bool is_json(const std::string& text, const std::string& name) {
  if (name.ends_with(".json")) return true;
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return false;
  return looks_like_json(text);
}

/// The most bytes of YAML that are read. Reading YAML takes one second per 6 MB of text. The values take 20 times as
/// much memory as the text.
constexpr std::size_t longest_yaml = 64'000'000;
/// The most keys and values of YAML that are read. Even a short key or value takes up to 350 bytes of memory. To read a
/// list in brackets, yaml-cpp holds the whole list in memory. So the keys and values are counted before yaml-cpp reads
/// the text. Each comma, colon or end of a line counts as one key or value.
constexpr std::ptrdiff_t most_parts = 3'000'000;

constexpr const char* advice_to_write_json =
    "Write the document as JSON, in a file whose name ends in .json: JSON is read five times as fast as YAML";

void refuse_long_yaml(const Source& source) {
  const std::size_t size = source.text.size();
  const std::ptrdiff_t parts = std::count_if(source.text.begin(), source.text.end(), [](char c) {
    return c == ',' || c == ':' || c == '\n';
  });
  if (size <= longest_yaml && parts > most_parts)
    throw InputError(
        Position{source.name, 0, 0, ""},
        std::to_string(parts) +
            " keys and values of YAML, counted by commas, colons and ends of lines, are too many. At most " +
            std::to_string(most_parts) +
            " are read: more would take more than a gigabyte of memory. " + advice_to_write_json);
  if (size <= longest_yaml) return;
  throw InputError(
      Position{source.name, 0, 0, ""},
      std::to_string(size / 1'000'000) + " MB of YAML are too many: at most " +
          std::to_string(longest_yaml / 1'000'000) +
          " MB are read: more would take many seconds and more than a gigabyte of memory. " +
          advice_to_write_json);
}

}  // namespace

Value parse_text(std::string text, std::string name) {
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);  // byte order mark
  const auto source = std::make_shared<const Source>(Source{std::move(name), std::move(text)});
  const bool as_json = is_json(source->text, source->name);
  if (!as_json) refuse_long_yaml(*source);
  require_text(*source);
  Value document = as_json ? read_json(source) : read_yaml(source, 0, /*allow_empty=*/false);
  if (document.kind() == Value::Kind::null)
    throw InputError(Position{source->name, 0, 0, ""},
                     "the document is empty; `sluice new` writes an example to begin with");
  return document;
}

Value load_file(const std::string& path) {
  if (is_foreign_name(path)) return foreign_value(path);
  return parse_text(read_regular_file(path), path);
}

namespace {

/// Returns a hint how to use a document of this format. The hint is for messages that expected another kind of
/// document.
std::string use_of(const std::string& format) {
  const std::string kind = format.substr(0, format.find('/'));
  if (kind == "sluice-model")
    return "; it is a model: `sluice model FILE` lists the model's layers, and `sluice fits FILE` says what fits. In a "
           "scenario, write `model: FILE`";
  if (kind == "sluice-platform") return "; it is a platform: in a scenario, write `platform: FILE`";
  if (kind == "sluice-scenario")
    return "; it is a scenario: `sluice run FILE` answers the scenario's question";
  return "";
}

}  // namespace

void require_format(const Value& document, std::string_view kind, int version) {
  const std::string family = "sluice-" + std::string(kind) + "/";
  const std::string wanted = family + std::to_string(version);
  if (!document.is_map())
    fail_at(document, "expected a mapping that starts with 'format: " + wanted + "', got " +
                          std::string(document.kind_name()));
  const Value* format = document.find("format");
  if (!format) fail_at(document, "the key 'format' is missing; expected 'format: " + wanted + "'");
  const std::string& text = format->text();
  if (format->kind() == Value::Kind::string && text == wanted) return;
  if (text.compare(0, family.size(), family) == 0) {
    const std::optional<int> given = number_in<int>(std::string_view(text).substr(family.size()));
    if (given && *given > version)
      fail_at(*format,
              "'" + text + "' is newer than this program can read; expected '" + wanted + "'");
  }
  fail_at(*format, "'" + text + "' for 'format': expected '" + wanted + "'" +
                       (text.compare(0, family.size(), family) == 0 ? "" : use_of(text)));
}

}  // namespace sluice
