// Files of other programs from which a document can be made: an ONNX model, a layer graph of
// PipeDream. They are neither YAML nor JSON, so load_file does not read them: it returns a Value
// that stands for the file, and the importer of the format replaces it (model/importer.hpp).
#pragma once

#include <string>
#include <string_view>

#include "document/value.hpp"

namespace sluice {

bool ends_with(std::string_view text, std::string_view end);

/// True for a name that ends in .onnx or .graph.txt.
bool is_foreign_name(std::string_view path);

/// A Value that stands for the file at `path`. Throws IoError unless it is an existing regular
/// file. No written document can be read as such a Value.
Value foreign_value(const std::string& path);

/// The path of the file that `value` stands for; null where `value` was written in a document.
const std::string* foreign_path(const Value& value);

/// The bytes of a regular file of at most 1 GiB. Throws IoError.
std::string read_regular_file(const std::string& path);

}  // namespace sluice
