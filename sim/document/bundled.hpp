// The documents that come with Sluice: models, platforms and scenarios, each known by its name.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// The documents of data_root()/FOLDER ("models", "platforms" or "scenarios"), sorted: paths.
/// Throws IoError.
std::vector<std::string> bundled_files(const std::string& folder);

/// Their names, sorted.
std::vector<std::string> bundled_names(const std::string& folder);

/// "alexnet", which is neither a path nor a file's name with an ending.
bool is_bare_name(const std::string& word);

/// The path of the bundled document of that name; empty where there is none, or no such folder.
std::string bundled_file(const std::string& name, const std::string& folder);

/// Of a name that is none of the bundled documents: what it is instead, or what is meant, and where
/// all of them are listed. Goes on a sentence: "; did you mean …".
std::string about_unknown_name(const std::string& name, const std::string& folder);

/// A path as it is given; or, where it is a bare name and no such file is here, the bundled
/// document of that name. Throws InputError that says what else the name may be.
std::string find_document(const std::string& file_or_name, const std::string& folder);

}  // namespace sluice
