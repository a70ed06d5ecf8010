#include "platform/written.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns whether the name begins with the key. Sets `rest` to the text behind the key, or behind the number that
/// follows the key.
bool is_numbered(std::string_view name, std::string_view key, std::string_view& rest) {
  if (name.substr(0, key.size()) != key) return false;
  rest = name.substr(key.size());
  rest.remove_prefix(static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_digit) -
                                              rest.begin()));
  return true;
}

bool is_called(const WrittenPart& part, std::string_view name) {
  std::string_view rest = name;
  if (!part.group.empty()) {
    if (!is_numbered(name, part.group, rest) || rest.substr(0, 1) != "_") return false;
    rest.remove_prefix(1);
  }
  return is_numbered(rest, part.key, rest) && rest.empty();
}

void add_parts(std::vector<WrittenPart>& parts, const Value& holder, std::string_view kind,
               const std::string& group) {
  const Value* found = holder.is_map() ? holder.find(kind) : nullptr;
  if (!found || !found->is_map()) return;
  const std::string way = (group.empty() ? "" : "groups." + group + ".") + std::string(kind) + ".";
  for (const Value::Entry& entry : found->entries())
    parts.push_back({group, entry.key, way + entry.key, &entry.value});
}

}  // namespace

std::vector<WrittenPart> written_parts(const Value& platform, std::string_view kind) {
  std::vector<WrittenPart> parts;
  add_parts(parts, platform, kind, "");
  const Value* groups = platform.is_map() ? platform.find("groups") : nullptr;
  if (groups && groups->is_map())
    for (const Value::Entry& group : groups->entries())
      add_parts(parts, group.value, kind, group.key);
  return parts;
}

const WrittenPart* part_called(const std::vector<WrittenPart>& parts, std::string_view name) {
  // The name is first compared with whole keys, because a key may itself end in a digit.
  for (const WrittenPart& part : parts)
    if (part.group.empty() && part.key == name) return &part;
  for (const WrittenPart& part : parts)
    if (is_called(part, name)) return &part;
  return nullptr;
}

}  // namespace sluice
