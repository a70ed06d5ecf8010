// Sluice turns files of other programs into documents, for example an ONNX model or a layer graph of PipeDream. These
// files are neither YAML nor JSON. So load_file does not parse such a file. load_file returns a Value that represents
// the file. The importer of the file's format replaces this Value by a document (model/importer.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.hpp"

namespace sluice {

/// Says which names are those of other programs' files: those with one of the endings that `endings` returns. The
/// folder `model` calls this function before main(), because its importers know the endings.
void set_foreign_endings(std::vector<std::string> (*endings)());
/// Returns whether the name is that of a file of another program, such as a name that ends in .onnx.
bool is_foreign_name(std::string_view path);

/// Returns a Value that represents the file at `path`. This Value differs from every Value that can be read from a
/// document. Throws IoError unless the path is an existing regular file.
Value foreign_value(const std::string& path);

/// Returns the path of the file that `value` represents. For a value from a document, returns null.
const std::string* foreign_path(const Value& value);

/// Returns the bytes of a regular file of at most 1 GiB. Throws IoError.
std::string read_regular_file(const std::string& path);

}  // namespace sluice
