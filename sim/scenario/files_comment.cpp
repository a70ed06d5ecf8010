#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "document/bundled.hpp"
#include "document/foreign.hpp"
#include "document/load.hpp"
#include "scenario/records.hpp"

namespace sluice {
namespace {

/// Returns the line for one file in files_comment(), a comment with the hashes of files. If `bytes` cannot read the
/// file, returns "". A missing file is not an error, because a resolved scenario may be used on a machine without the
/// file.
template <class Bytes>
std::string line_of(const std::string& what, Bytes&& bytes) {
  try {
    return "# SHA-256 of " + valid_utf8(what) + ": " + sha256_of(bytes()) + "\n";
  } catch (const Error&) {
    return "";
  }
}

/// Returns the bytes of a document. If the document is a variant of another document (it has the key `file`), the bytes
/// are those of the variant laid over that other document, written as YAML.
std::string document_bytes(const std::string& file_or_name, const std::string& folder) {
  const std::string path = find_document(file_or_name, folder);
  std::string bytes = read_regular_file(path);
  if (bytes.find("file") == std::string::npos) return bytes;
  return to_yaml(load_document(path, folder));
}

}  // namespace

std::string files_comment(const Cost& cost, const Platform& platform) {
  std::string comment;
  for (const CostFile& file : cost.files(platform))
    comment += line_of(file.what, [&] {
      return file.folder.empty() ? read_regular_file(file.path)
                                 : document_bytes(file.path, file.folder);
    });
  return comment;
}

}  // namespace sluice
