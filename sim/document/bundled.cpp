#include "document/bundled.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"

namespace sluice {
namespace {

namespace fs = std::filesystem;

struct Folder {
  /// A folder of bundled documents: its `name`, and in `one` the words for a single document in it, such as "a model".
  /// `what_to_do` is advice for a person who gave such a document where another kind of document is expected.
  std::string name, one, what_to_do;
};

const std::vector<Folder>& folders() {
  static const std::vector<Folder> list = {
      {"models", "a model",
       "`sluice model NAME` lists the model's layers, and `sluice fits NAME` says what fits. In a scenario, write "
       "`model: NAME` (`sluice new scenario`)"},
      {"platforms", "a platform",
       "in a scenario, write `platform: NAME`. For `sluice fits` and `sluice model`, the option is --platform NAME"},
      {"scenarios", "a scenario", "`sluice run NAME` answers the scenario's question"},
      {"fits", "a fit", "`cost: {model: fitted, file: NAME}` computes costs with this fit"},
  };
  return list;
}

const Folder& folder_named(const std::string& name) {
  for (const Folder& folder : folders())
    if (folder.name == name) return folder;
  throw InternalError("no documents of '" + name + "' are bundled");
}

std::string with_name(std::string text, const std::string& name) {
  for (std::size_t at = text.find("NAME"); at != std::string::npos; at = text.find("NAME", at))
    text.replace(at, 4, name);
  return text;
}

}  // namespace

std::vector<std::string> bundled_files(const std::string& folder) {
  const fs::path root = fs::path(data_root()) / folder;
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    const std::string ending = entry.path().extension().string();
    if (entry.is_regular_file() && (ending == ".yaml" || ending == ".json"))
      files.push_back(entry.path().string());
  }
  if (error)
    throw IoError(
        "cannot read the folder '" + root.string() + "': " + error.message() +
        "; set the variable SLUICE_ROOT to the folder that holds models, platforms and scenarios");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> bundled_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : bundled_files(folder)) names.push_back(fs::path(file).stem());
  return names;
}

bool is_bare_name(const std::string& word) {
  const fs::path path = word;
  return !word.empty() && !path.has_parent_path() && !path.has_extension() && word != "." &&
         word != "..";
}

std::string bundled_file(const std::string& name, const std::string& folder) {
  if (!is_bare_name(name)) return "";
  for (const char* ending : {".yaml", ".json"}) {
    const fs::path path = fs::path(data_root()) / folder / (name + ending);
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  return "";
}

std::string about_unknown_name(const std::string& name, const std::string& folder) {
  for (const Folder& other : folders())
    if (other.name != folder && !bundled_file(name, other.name).empty())
      return "; it is " + other.one + ": " + with_name(other.what_to_do, name);
  const std::vector<std::string> names = bundled_names(folder);
  return did_you_mean(name, names) + "; `sluice list " + folder + "` lists all " +
         std::to_string(names.size());
}

std::string find_document(const std::string& file_or_name, const std::string& folder) {
  std::error_code ignored;
  if (!is_bare_name(file_or_name)) return file_or_name;
  if (fs::exists(file_or_name, ignored) && !fs::is_directory(file_or_name, ignored))
    return file_or_name;
  if (std::string found = bundled_file(file_or_name, folder); !found.empty()) return found;
  if (fs::exists(file_or_name + ".yaml", ignored))
    throw InputError("'" + file_or_name + "' is not a file here (did you mean '" + file_or_name +
                     ".yaml'?), and not " + folder_named(folder).one + " of Sluice's own");
  throw InputError("'" + file_or_name + "' is not a file here, and not " +
                   folder_named(folder).one + " of Sluice's own" +
                   about_unknown_name(file_or_name, folder));
}

}  // namespace sluice
