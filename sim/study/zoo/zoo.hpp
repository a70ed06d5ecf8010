// The zoo: the models, platforms and scenarios that come with Sluice.
#pragma once

#include <string>
#include <vector>

namespace sluice {

/// The path of FILE, or of the document of that name in the zoo: "alexnet" in `folder` "models" is
/// data_root()/models/alexnet.yaml (or .json) where no such file is here. Throws IoError listing
/// the names there are.
std::string find_document(const std::string& file_or_name, const std::string& folder);

/// The documents of a zoo folder, sorted: paths. Throws IoError.
std::vector<std::string> zoo_files(const std::string& folder);

}  // namespace sluice
