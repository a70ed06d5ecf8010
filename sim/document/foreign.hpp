// Files of other programs, from which a document can be made: an ONNX model, a layer graph of
// PipeDream. They are neither YAML nor JSON, so load_file does not read them: it gives a Value that
// stands for the file, and whoever knows the format replaces it (model/importer.hpp).
#pragma once

#include <string>
#include <string_view>

#include "document/value.hpp"

namespace sluice {

bool ends_with(std::string_view text, std::string_view end);

/// By the file's ending: .onnx, .graph.txt.
bool is_foreign_name(std::string_view path);

/// A Value that stands for the file at `path`, which exists and is a regular file: IoError else.
/// No document can be written that reads as such a Value.
Value foreign_value(const std::string& path);

/// The path of the file that `value` stands for; null for what was written in a document.
const std::string* foreign_path(const Value& value);

/// The bytes of a regular file of at most 1 GiB. Throws IoError.
std::string read_regular_file(const std::string& path);

}  // namespace sluice
