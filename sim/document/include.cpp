#include <algorithm>
#include <filesystem>

#include "base/suggest.hpp"
#include "base/version.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "document/record.hpp"
#include "document/roots.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_chain = 16;

/// Lays the document `over` on top of the document `base`, at all levels. If both documents have a mapping under the
/// same key, the two mappings are merged. Any other value of `over` replaces the value that `base` has under the same
/// key.
void lay_over(Value& base, Value over) {
  for (Value::Entry& entry : over.entries()) {
    Value* below = base.find(entry.key);
    if (below && below->is_map() && entry.value.is_map()) {
      lay_over(*below, std::move(entry.value));
      continue;
    }
    base.set(entry.key, std::move(entry.value));
    for (Value::Entry& placed : base.entries())
      if (placed.key == entry.key) placed.line = entry.line, placed.column = entry.column;
  }
}

void erase(Value& map, std::string_view key) {
  auto& entries = map.entries();
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const Value::Entry& entry) { return entry.key == key; }),
                entries.end());
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

/// Follows `file:` keys from one file to the next, and remembers the files on the way.
class Includes {
 public:
  /// `typed` holds the sources of overrides, which a person typed. A file that such an override names may lie in any
  /// folder.
  explicit Includes(const std::string& path, std::vector<std::shared_ptr<const Source>> typed = {})
      : roots_{root_of(path), true_path(data_root())}, typed_(std::move(typed)) {
    enter(path);
  }

  /// Returns the document that `file` names. `file` is a path relative to the folder of `from`, or the name of a
  /// bundled document of `folder`. If this document itself has a key `file`, it is laid over the document that the key
  /// names.
  Value load(const Value& file, const std::string& from, const std::string& folder) {
    const fs::path path = path_of(file, from, folder);
    if (is_typed(file)) roots_.push_back(root_of(path));
    check(file, path);
    enter(path.string());
    Value document = [&] {
      try {
        return load_file(path.string());
      } catch (const IoError& error) {
        fail_at(file, error.what());
      }
    }();
    lay_over_base(document, path.string(), folder);
    chain_.pop_back();
    return document;
  }

  /// `document` was read from `path`. If its top mapping has the key `file`, the other keys of this mapping are laid
  /// over the content of the named file. The result replaces `document`.
  void lay_over_base(Value& document, const std::string& path, const std::string& folder) {
    const Value* file = document.find("file");
    if (!file) return;
    Value base = load(*file, path, folder);
    if (!base.is_map())
      fail_at(*file, "'" + file->text() + "' holds " + std::string(base.kind_name()) +
                         ", expected a mapping");
    erase(document, "file");
    lay_over(base, std::move(document));
    document = std::move(base);
  }

 private:
  void enter(const std::string& path) {
    chain_.push_back(true_path(path));
    names_.resize(chain_.size() - 1);
    names_.push_back(path);
  }

  bool is_typed(const Value& file) const {
    return std::find(typed_.begin(), typed_.end(), file.source()) != typed_.end();
  }

  fs::path path_of(const Value& file, const std::string& from, const std::string& folder) const {
    if (file.kind() != Value::Kind::string || file.text().empty())
      fail_at(file, "expected a path for 'file', got " + (file.kind() == Value::Kind::string
                                                              ? "an empty text"
                                                              : std::string(file.kind_name())));
    const std::string& text = file.text();
    const fs::path beside = (fs::path(from).parent_path() / text).lexically_normal();
    if (is_file(beside)) return beside;
    if (is_typed(file) && is_file(text)) return text;
    if (folder.empty() || !is_bare_name(text)) return beside;
    if (const std::string found = bundled_file(text, folder); !found.empty()) return found;
    if (is_file(beside.string() + ".yaml"))
      fail_at(file, "'" + text +
                        "' is not the name of a bundled document; for the file beside this " +
                        "document, write '" + text + ".yaml'");
    fail_at(file, "there is no file '" + text + "' beside this document, and none of Sluice's " +
                      folder + " has that name" + about_unknown_name(text, folder));
  }

  void check(const Value& file, const fs::path& path) const {
    const fs::path target = true_path(path);
    const bool inside = std::any_of(roots_.begin(), roots_.end(),
                                    [&](const fs::path& root) { return is_inside(target, root); });
    if (!is_typed(file) && !inside)
      fail_at(
          file,
          "'" + file.text() + "' leads out of '" + roots_.front().string() +
              "'. A document may name files in that folder. It is the nearest folder with .git or .sluice-root above "
              "the document, or else the parent of the document's folder. A document may also name files of Sluice, "
              "such as gpt2 or a100_pcie. Copy the file into that folder, or put an empty file .sluice-root into a "
              "folder that holds both files");
    std::vector<std::string> way(names_.begin(), names_.begin() + static_cast<long>(chain_.size()));
    way.push_back(path.string());
    if (std::find(chain_.begin(), chain_.end(), target) != chain_.end())
      fail_at(file, "the files include each other: " + join(way, " -> "));
    if (chain_.size() > longest_chain)
      fail_at(file, "more than " + std::to_string(longest_chain) +
                        " files include one another: " + join(way, " -> "));
  }

  /// The root of a file is the nearest folder above it with .git or .sluice-root, or else the parent of its folder.
  /// Files may be included from these folders: the root of the document, the roots of files named by overrides, and the
  /// folder of Sluice's own documents.
  std::vector<fs::path> roots_;
  std::vector<std::shared_ptr<const Source>> typed_;
  std::vector<fs::path> chain_;
  std::vector<std::string> names_;
};

void resolve(Value& mapping, bool as_definition, const std::string& folder, Includes& includes,
             const std::string& path) {
  const Value* file = mapping.find("file");
  if (!file) return;
  Value content = includes.load(*file, path, folder);
  if (as_definition) {
    if (const Value* definition = mapping.find("definition"))
      fail_at(*definition, "both 'file' and 'definition' are given; expected one of them");
    erase(mapping, "file");
    mapping.set("definition", std::move(content));
    return;
  }
  if (!content.is_map())
    fail_at(*file, "'" + file->text() + "' holds " + std::string(content.kind_name()) +
                       ", expected a mapping");
  erase(mapping, "file");
  lay_over(content, std::move(mapping));
  mapping = std::move(content);
}

std::string without_star(const std::string& key) {
  return !key.empty() && key.back() == '*' ? key.substr(0, key.size() - 1) : key;
}

/// Returns whether the override names a file to include, such as model=… or model.file=….
bool names_include(const Override& override, const std::vector<std::string>& include_keys) {
  const auto& path = override.path;
  const bool whole = path.size() == 1;
  const bool file = path.size() == 2 && path[1] == "file";
  if (!whole && !file) return false;
  for (const std::string& key : include_keys)
    if (without_star(key) == path[0]) return true;
  return false;
}

void include_all(Value& document, const std::string& path,
                 const std::vector<std::string>& include_keys, Includes includes) {
  for (const std::string& key : include_keys) {
    const std::string name = without_star(key);
    if (Value* mapping = document.find(name))
      resolve(*mapping, name != key, name + "s", includes, path);
  }
}

}  // namespace

void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys) {
  include_all(document, path, include_keys, Includes(path));
}

Value load_document(const std::string& path, const std::string& folder) {
  Value document = load_file(path);
  Includes(path).lay_over_base(document, path, folder);
  return document;
}

Value resolve_with_overrides(Value document, const std::string& path,
                             const std::vector<std::string>& include_keys,
                             const std::vector<std::string>& overrides, const Layout& layout) {
  std::vector<Override> after;
  std::vector<std::shared_ptr<const Source>> typed;
  for (const std::string& text : overrides) {
    Override override = parse_override(text);
    if (names_include(override, include_keys)) {
      apply_override(document, override, layout);
      typed.push_back(override.value.source());
    } else {
      after.push_back(std::move(override));
    }
  }
  expand_words(document, layout);
  include_all(document, path, include_keys, Includes(path, std::move(typed)));
  for (const Override& override : after) apply_override(document, override, layout);
  expand_words(document, layout);
  return document;
}

}  // namespace sluice
