#include "document/roots.hpp"

#include <algorithm>

#include "base/version.hpp"
#include "document/bundled.hpp"
#include "document/record.hpp"

namespace sluice {

namespace fs = std::filesystem;

fs::path true_path(const fs::path& path) {
  std::error_code ignored;  // If the path does not exist, opening the file fails later.
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

std::string named_file(const Value& file, const std::string& folder) {
  const auto& source = file.source();
  const bool typed = !source || source->name == source->text;
  const fs::path beside =
      (typed ? fs::path(folder) : fs::path(source->name).parent_path()) / file.text();
  std::error_code ignored;
  if (typed) return fs::exists(beside, ignored) ? beside.string() : file.text();
  const fs::path target = true_path(beside), root = root_of(source->name);
  if (!is_inside(target, root) && !is_inside(target, true_path(data_root())))
    fail_at(
        file,
        "'" + file.text() + "' leads out of '" + root.string() +
            "'. A document may name files in that folder. It is the nearest folder with .git or .sluice-root above the "
            "document, or else the parent of the document's folder. Copy the file there, or put an empty file "
            ".sluice-root into a folder that holds both files");
  return beside.lexically_normal().string();
}

std::string named_file_or_word(const Value& file, const std::string& folder) {
  return is_bare_name(file.text()) ? file.text() : named_file(file, folder);
}

}  // namespace sluice
