#include "study/zoo/zoo.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"

namespace sluice {

namespace fs = std::filesystem;

std::vector<std::string> zoo_files(const std::string& folder) {
  const fs::path root = fs::path(data_root()) / folder;
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    const std::string ending = entry.path().extension().string();
    if (entry.is_regular_file() && (ending == ".yaml" || ending == ".json"))
      files.push_back(entry.path().string());
  }
  if (error)
    throw IoError("cannot read the folder '" + root.string() + "': " + error.message() +
                  "; SLUICE_ROOT may name the folder that holds models, platforms and scenarios");
  std::sort(files.begin(), files.end());
  return files;
}

std::string find_document(const std::string& file_or_name, const std::string& folder) {
  std::error_code ignored;
  const fs::path path = file_or_name;
  if (fs::exists(path, ignored) || path.has_parent_path() || path.has_extension())
    return file_or_name;
  std::vector<std::string> names;
  for (const std::string& file : zoo_files(folder)) {
    names.push_back(fs::path(file).stem().string());
    if (names.back() == file_or_name) return file;
  }
  throw IoError("there is no file '" + file_or_name + "', and none of " + folder +
                " has that name" + did_you_mean(file_or_name, names) + "; known: " + join(names));
}

}  // namespace sluice
