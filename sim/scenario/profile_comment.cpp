#include <filesystem>

#include "base/sha256.hpp"
#include "document/foreign.hpp"
#include "document/roots.hpp"
#include "scenario/records.hpp"

namespace sluice {

std::string profile_comment(const Value& document) {
  const Value* cost = document.find("cost");
  const Value* profile = cost ? cost->find("profile") : nullptr;
  if (!profile) return "";
  const std::string folder =
      document.source() ? std::filesystem::path(document.source()->name).parent_path().string()
                        : std::string();
  try {
    return "# SHA-256 of cost.profile: " +
           sha256_of(read_regular_file(named_file(*profile, folder))) + "\n";
  } catch (const Error&) {
    return "";  // the text may be read again elsewhere, where the file is not
  }
}

}  // namespace sluice
