#include "base/csv.hpp"
#include "base/part_file.hpp"
#include "document/foreign.hpp"
#include "document/load.hpp"
#include "profile/columns.hpp"
#include "profile/hdf5.hpp"

namespace sluice {
namespace {

/// Returns the columns that have a value in at least one row.
std::vector<const ProfileColumn*> used_columns(const Profile& profile) {
  std::vector<const ProfileColumn*> used;
  for (const ProfileColumn& column : profile_columns())
    for (const ProfileRow& row : profile.rows)
      if (!column.get(row).empty()) {
        used.push_back(&column);
        break;
      }
  if (used.empty()) used.push_back(&profile_column("operator"));
  return used;
}

/// Returns the header as comment lines. The key `defaults` is left out, because the rows are written with all their
/// values and need no defaults.
std::string header_lines(const Value& header) {
  Value whole = Value::make_map();
  for (const Value::Entry& entry : header.entries())
    if (entry.key != "defaults") whole.set(entry.key, entry.value);
  std::string lines;
  const std::string text = to_yaml(whole);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

/// Returns the text of the first cell of a row. If the text begins with #, it is put into quotes. Without quotes, the
/// line would be read as a comment.
std::string first_cell(const std::string& text) {
  const std::string cell = csv_cell(text);
  return cell.rfind('#', 0) == 0 ? '"' + cell + '"' : cell;
}

}  // namespace

std::string profile_text(const Profile& profile) {
  std::string text = header_lines(profile.header);
  const auto columns = used_columns(profile);
  const auto line = [&](auto&& cell) {
    for (const ProfileColumn* column : columns)
      text += column == columns.front() ? first_cell(cell(*column)) : "," + csv_cell(cell(*column));
    text += "\n";
  };
  line([](const ProfileColumn& column) { return column.name; });
  for (const ProfileRow& row : profile.rows)
    line([&](const ProfileColumn& column) { return column.get(row); });
  return text;
}

void write_profile(const Profile& profile, const std::string& path) {
  if (path.ends_with(".h5") || path.ends_with(".hdf5"))
    hdf5_form(path).write(profile, path);
  else
    write_file(path, profile_text(profile));
}

}  // namespace sluice
