// Finds the models, platforms, scenarios and fits that come with Sluice by their names.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// Returns the sorted paths of the documents in data_root()/FOLDER. FOLDER is "models", "platforms", "scenarios" or
/// "fits". Throws IoError.
std::vector<std::string> bundled_files(const std::string& folder);

/// Returns the sorted names of the documents in data_root()/FOLDER.
std::vector<std::string> bundled_names(const std::string& folder);

/// Returns true for a word like "alexnet", which is neither a path nor a file name with an extension.
bool is_bare_name(const std::string& word);

/// Returns the path of the bundled document with this name. If there is none, returns "".
std::string bundled_file(const std::string& name, const std::string& folder);

/// Returns advice about an unknown name in `folder`. Another kind of document may have this name, or a similar name may
/// be meant. The advice also names the command that lists all names. It is appended to a message. So it begins with ";"
/// or a bracket.
std::string about_unknown_name(const std::string& name, const std::string& folder);

/// Returns the path of a document. A path, or the name of a file in the working folder, is returned unchanged. A bare
/// name means the bundled document of this name. If there is none, throws an InputError. The message says what the name
/// may mean instead.
std::string find_document(const std::string& file_or_name, const std::string& folder);

}  // namespace sluice
