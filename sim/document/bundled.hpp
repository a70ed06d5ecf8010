// The documents that come with Sluice: models, platforms and scenarios. Each is known by its name.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// The sorted paths of the documents in data_root()/FOLDER ("models", "platforms" or "scenarios").
/// Throws IoError.
std::vector<std::string> bundled_files(const std::string& folder);

/// The names of these documents, sorted.
std::vector<std::string> bundled_names(const std::string& folder);

/// True for a word like "alexnet", which is neither a path nor a file name with an extension.
bool is_bare_name(const std::string& word);

/// The path of the bundled document of that name; empty where there is no such document or folder.
std::string bundled_file(const std::string& name, const std::string& folder);

/// Help about a name that is not a bundled document: what it is instead, or which name is meant,
/// and what lists all of them. The text continues a sentence: "; did you mean …".
std::string about_unknown_name(const std::string& name, const std::string& folder);

/// A path stays as it is given. A bare name that is not a file here becomes the path of the bundled
/// document of that name. Throws InputError that says what else the name may be.
std::string find_document(const std::string& file_or_name, const std::string& folder);

}  // namespace sluice
