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

/// Returns true for a bare name, such as "alexnet": a word that is neither a path nor a file name with an extension.
bool is_bare_name(const std::string& word);

/// Returns the path of the bundled document with this name. If there is none, returns "".
std::string bundled_file(const std::string& name, const std::string& folder);

/// Returns advice for a message that says: `folder` has no document `name`. If a document in another folder has this
/// name, the advice says how to use that document. Otherwise the advice suggests the most similar name in `folder`, and
/// names the command that lists all names. The advice begins with ";" or a bracket, because it follows the message.
std::string about_unknown_name(const std::string& name, const std::string& folder);

/// Returns the path of a document. A path, or the name of a file in the working folder, is returned unchanged. Any
/// other bare name means the bundled document of this name. If there is no such document, throws an InputError. If
/// the working folder has the file NAME.yaml, the error suggests this file. Otherwise the error ends with the advice of
/// about_unknown_name().
std::string find_document(const std::string& file_or_name, const std::string& folder);

}  // namespace sluice
