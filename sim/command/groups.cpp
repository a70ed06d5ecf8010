#include "command/groups.hpp"

#include <cctype>
#include <map>
#include <optional>

namespace sluice {
namespace {

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Returns the first position, from `from` on, at which `text` contains the whole name `device`.
std::size_t find_name(const std::string& text, const std::string& device, std::size_t from = 0) {
  for (std::size_t at = text.find(device, from); at != std::string::npos;
       at = text.find(device, at + 1)) {
    const std::size_t end = at + device.size();
    const bool begins = at == 0 || !is_part_of_name(text[at - 1]);
    if (begins && (end == text.size() || !is_part_of_name(text[end]))) return at;
  }
  return std::string::npos;
}

std::string renamed(std::string text, const std::string& device, const std::string& name) {
  for (std::size_t at = find_name(text, device); at != std::string::npos;
       at = find_name(text, device, at + name.size()))
    text.replace(at, device.size(), name);
  return text;
}

/// Returns the only device that the text names. Returns nullopt if the text names no device or several devices.
std::optional<std::size_t> device_in(const std::string& text,
                                     const std::vector<std::string>& devices) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (devices[d].empty() || find_name(text, devices[d]) == std::string::npos) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

/// A group of texts, which the functions below join into one text.
struct Group {
  std::vector<std::size_t> rows;
  std::size_t first, last;  ///< indices of devices
};

/// Divides texts into groups. The texts of a group differ only in their device, and their devices are consecutive. A
/// text that names no device is alone in its group.
std::vector<Group> groups_of(const std::vector<std::string>& texts,
                             const std::vector<std::string>& devices) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<Group> groups;
  // A key is a text without the name of its device. The value is the index of the text's group.
  std::map<std::string, std::size_t> open;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const std::optional<std::size_t> device = device_in(texts[t], devices);
    if (!device) {
      groups.push_back({{t}, none, none});
      continue;
    }
    const std::string key = renamed(texts[t], devices[*device], "\1");
    const auto at = open.find(key);
    if (at != open.end() && groups[at->second].last + 1 == *device) {
      groups[at->second].last = *device;
      groups[at->second].rows.push_back(t);
      continue;
    }
    open[key] = groups.size();
    groups.push_back({{t}, *device, *device});
  }
  return groups;
}

std::string name_of(const Group& group, const std::string& text,
                    const std::vector<std::string>& devices) {
  if (group.first == group.last) return text;
  return renamed(text, devices[group.first], devices[group.first] + ".." + devices[group.last]);
}

}  // namespace

std::vector<DeviceGroup> groups_by_device(const std::vector<std::string>& texts,
                                          const std::vector<std::string>& devices) {
  std::vector<DeviceGroup> result;
  for (Group& group : groups_of(texts, devices))
    result.push_back({name_of(group, texts[group.rows.front()], devices), std::move(group.rows)});
  return result;
}

LabelledRows grouped_by_device(const LabelledRows& rows, const std::vector<std::string>& devices) {
  constexpr char between = '\2';
  std::vector<std::string> texts;
  std::string label;
  for (const auto& [own, text] : rows) {
    if (!own.empty()) label = own;
    texts.push_back(label + between + text);
  }
  LabelledRows result;
  std::string above;
  for (const Group& group : groups_of(texts, devices)) {
    const std::string whole = name_of(group, texts[group.rows.front()], devices);
    const std::size_t end = whole.find(between);
    const std::string own = whole.substr(0, end);
    const bool again = rows[group.rows.front()].first.empty() && own == above;
    result.emplace_back(again ? "" : own, whole.substr(end + 1));
    above = own;
  }
  return result;
}

}  // namespace sluice
