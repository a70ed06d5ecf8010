// Finds the documents that come with Sluice (models, platforms, scenarios and fits) by their names.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// Returns the sorted paths of the documents in data_root()/FOLDER ("models", "platforms",
/// "scenarios" or "fits"). Throws IoError.
std::vector<std::string> bundled_files(const std::string& folder);

/// Returns the sorted names of the documents in data_root()/FOLDER.
std::vector<std::string> bundled_names(const std::string& folder);

/// Returns true for a word like "alexnet", which is neither a path nor a file name with an extension.
bool is_bare_name(const std::string& word);

/// Returns the path of the bundled document of that name, or "" if there is no such document or folder.
std::string bundled_file(const std::string& name, const std::string& folder);

/// Returns advice about a name that no bundled document of `folder` has. The advice says which
/// other kind of document has this name, or which similar name may be meant, and which command
/// lists all names. The text begins with ";" or a bracket, because it is appended to a message.
std::string about_unknown_name(const std::string& name, const std::string& folder);

/// Returns the path of a document. If the argument is a path or the name of a file in the working folder, returns the
/// argument. If the argument is a bare name, the function returns the path of the bundled document of that name. If
/// there is no such document, throws an InputError whose message says what the name may mean instead.
std::string find_document(const std::string& file_or_name, const std::string& folder);

}  // namespace sluice
