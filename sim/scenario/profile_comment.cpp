#include <filesystem>
#include <map>

#include "base/sha256.hpp"
#include "document/bundled.hpp"
#include "document/foreign.hpp"
#include "document/load.hpp"
#include "document/roots.hpp"
#include "platform/written.hpp"
#include "scenario/records.hpp"

namespace sluice {
namespace {

/// A line of the comment; empty where `bytes` cannot be read: the text may be read again elsewhere,
/// where the file is not.
template <class Bytes>
std::string line_of(const std::string& what, Bytes&& bytes) {
  try {
    return "# SHA-256 of " + what + ": " + sha256_of(bytes()) + "\n";
  } catch (const Error&) {
    return "";
  }
}

/// A fit may be a variant of another document (`file:`), whose content counts as well.
std::string fit_bytes(const std::string& file_or_name) {
  const std::string path = find_document(file_or_name, "fits");
  std::string bytes = read_regular_file(path);
  if (bytes.find("file") == std::string::npos) return bytes;
  return to_yaml(load_document(path, "fits"), false);
}

bool says(const Value& map, std::string_view key, std::string_view word) {
  const Value* value = map.is_map() ? map.find(key) : nullptr;
  return value && value->is_scalar() && value->text() == word;
}

bool is_fitted(const Value& cost) {
  if (cost.is_scalar()) return cost.text() == "fitted";
  return says(cost, "model", "fitted") || says(cost, "outside", "fitted");
}

/// The fits that the platform's devices name, each once, by what is written.
std::map<std::string, const Value*> device_fits(const Value& document) {
  std::map<std::string, const Value*> fits;
  const Value* platform = document.find("platform");
  if (!platform) return fits;
  for (const WrittenPart& device : written_parts(*platform, "devices")) {
    const Value* fit = device.keys->is_map() ? device.keys->find("fit") : nullptr;
    if (fit && fit->is_scalar()) fits.emplace(fit->text(), fit);
  }
  return fits;
}

}  // namespace

std::string profile_comment(const Value& document) {
  const Value* cost = document.find("cost");
  if (!cost) return "";
  const std::string folder =
      document.source() ? std::filesystem::path(document.source()->name).parent_path().string()
                        : std::string();
  std::string comment;
  if (cost->is_map())
    if (const Value* profile = cost->find("profile"))
      comment +=
          line_of("cost.profile", [&] { return read_regular_file(named_file(*profile, folder)); });
  if (!is_fitted(*cost)) return comment;
  const Value* file = cost->is_map() ? cost->find("file") : nullptr;
  if (file && file->is_scalar() && !file->text().empty())
    return comment +
           line_of("cost.file", [&] { return fit_bytes(named_file_or_word(*file, folder)); });
  for (const auto& [word, fit] : device_fits(document))
    comment += line_of("the fit " + word,
                       [&fit = fit] { return fit_bytes(named_file_or_word(*fit, "")); });
  return comment;
}

}  // namespace sluice
