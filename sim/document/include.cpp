#include <algorithm>
#include <filesystem>

#include "base/suggest.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "document/record.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_chain = 16;

fs::path true_path(const fs::path& path) {
  std::error_code ignored;  // what does not exist is refused when it is opened
  fs::path result = fs::weakly_canonical(fs::absolute(path), ignored);
  return ignored ? path : result;
}

fs::path root_of(const fs::path& file) {
  const fs::path folder = true_path(file).parent_path();
  for (fs::path at = folder;; at = at.parent_path()) {
    std::error_code ignored;
    if (fs::exists(at / ".sluice-root", ignored) || fs::exists(at / ".git", ignored)) return at;
    if (at == at.parent_path()) break;
  }
  return folder.parent_path();
}

bool is_inside(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

/// `over` laid over `base`, deeply: maps are merged, everything else is replaced.
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

/// Follows `file:` keys from one file on, remembering the way.
class Includes {
 public:
  explicit Includes(const std::string& path) : root_(root_of(path)) { enter(path); }

  /// The document that `file` (relative to `from`) names, its own bases laid under it.
  Value load(const Value& file, const std::string& from) {
    if (file.kind() != Value::Kind::string || file.text().empty())
      fail_at(file, "expected a path for 'file', got " + (file.kind() == Value::Kind::string
                                                              ? "an empty text"
                                                              : std::string(file.kind_name())));
    const fs::path path = (fs::path(from).parent_path() / file.text()).lexically_normal();
    check(file, path);
    enter(path.string());
    Value document = [&] {
      try {
        return load_file(path.string());
      } catch (const IoError& error) {
        fail_at(file, error.what());
      }
    }();
    lay_over_base(document, path.string());
    chain_.pop_back();
    return document;
  }

  /// Where `document`, read from `path`, has a `file:` at the top: the base with the rest laid
  /// over.
  void lay_over_base(Value& document, const std::string& path) {
    const Value* file = document.find("file");
    if (!file) return;
    Value base = load(*file, path);
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

  void check(const Value& file, const fs::path& path) const {
    const fs::path target = true_path(path);
    if (!is_inside(target, root_))
      fail_at(file, "'" + file.text() + "' leads out of '" + root_.string() +
                        "'; included files must lie inside it");
    std::vector<std::string> way(names_.begin(), names_.begin() + static_cast<long>(chain_.size()));
    way.push_back(path.string());
    if (std::find(chain_.begin(), chain_.end(), target) != chain_.end())
      fail_at(file, "the files include each other: " + join(way, " -> "));
    if (chain_.size() > longest_chain)
      fail_at(file, "more than " + std::to_string(longest_chain) +
                        " files include one another: " + join(way, " -> "));
  }

  fs::path root_;
  std::vector<fs::path> chain_;
  std::vector<std::string> names_;
};

void resolve(Value& mapping, bool as_definition, Includes& includes, const std::string& path) {
  const Value* file = mapping.find("file");
  if (!file) return;
  Value content = includes.load(*file, path);
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

/// Whether the override says which file is included: model=…, model.file=….
bool names_include(const Override& override, const std::vector<std::string>& include_keys) {
  const auto& path = override.path;
  const bool whole = path.size() == 1;
  const bool file = path.size() == 2 && path[1] == "file";
  if (!whole && !file) return false;
  for (const std::string& key : include_keys)
    if (without_star(key) == path[0]) return true;
  return false;
}

}  // namespace

void resolve_includes(Value& document, const std::string& path,
                      const std::vector<std::string>& include_keys) {
  Includes includes(path);
  for (const std::string& key : include_keys) {
    const std::string name = without_star(key);
    if (Value* mapping = document.find(name)) resolve(*mapping, name != key, includes, path);
  }
}

Value load_document(const std::string& path) {
  Value document = load_file(path);
  Includes(path).lay_over_base(document, path);
  return document;
}

Value load_with_overrides(const std::string& path, const std::vector<std::string>& include_keys,
                          const std::vector<std::string>& overrides,
                          const std::vector<std::string>& may_be_absent) {
  // Where things are included by key there is no base: its relative paths would change their
  // meaning.
  return resolve_with_overrides(include_keys.empty() ? load_document(path) : load_file(path), path,
                                include_keys, overrides, may_be_absent);
}

Value resolve_with_overrides(Value document, const std::string& path,
                             const std::vector<std::string>& include_keys,
                             const std::vector<std::string>& overrides,
                             const std::vector<std::string>& may_be_absent) {
  std::vector<Override> after;
  for (const std::string& text : overrides) {
    Override override = parse_override(text);
    if (names_include(override, include_keys))
      apply_override(document, override);
    else
      after.push_back(std::move(override));
  }
  resolve_includes(document, path, include_keys);
  for (const Override& override : after) apply_override(document, override, may_be_absent);
  return document;
}

}  // namespace sluice
