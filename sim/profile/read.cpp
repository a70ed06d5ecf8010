// Reads the CSV form of a profile, and chooses the reader for a file.
#include <map>

#include "document/builder.hpp"
#include "document/foreign.hpp"
#include "document/load.hpp"
#include "profile/columns.hpp"
#include "profile/csv_table.hpp"
#include "profile/hdf5.hpp"
#include "profile/header.hpp"
#include "profile/merge.hpp"
#include "profile/tables/table.hpp"

namespace sluice {
namespace {

constexpr std::string_view first_line = "# format: sluice-profile/";

/// Returns the comment lines at the top of the file as YAML. A blank replaces the # at the start of each line. So the
/// YAML has the same lines and columns as the file, and messages give the right positions.
std::string header_text(const std::string& text) {
  std::string header;
  for (std::size_t at = 0; at < text.size() && text[at] == '#';) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    header += " " + text.substr(at + 1, end - at - 1) + "\n";
    at = end + 1;
  }
  return header;
}

void set_cell(ProfileRow& row, const ProfileColumn& column, const CsvTable& table,
              const CsvCell& cell) {
  try {
    column.set(row, cell.text);
  } catch (const InputError& error) {
    table.fail(cell, column.name + ": " + error.what());
  }
}

std::vector<const ProfileColumn*> columns_of(const CsvTable& table) {
  std::vector<const ProfileColumn*> columns;
  for (const CsvCell& cell : table.heading) {
    try {
      columns.push_back(&profile_column(cell.text));
    } catch (const InputError& error) {
      table.fail(cell, error.what());
    }
  }
  return columns;
}

ProfileRow defaults_of(const Value& header) {
  ProfileRow row;
  if (const Value* defaults = header.find("defaults"))
    for (const Value::Entry& entry : defaults->entries())
      profile_column(entry.key).set(row, entry.value.text());
  if (const Value* device = header.find("device"); device && row.device.empty())
    row.device = device->text();
  return row;
}

ProfileRow row_of(const CsvTable& table, const std::vector<const ProfileColumn*>& columns,
                  const std::vector<CsvCell>& cells, const ProfileRow& defaults) {
  ProfileRow row = defaults;
  row.line = cells.front().line;
  bool marked = false;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (cells[c].text.empty()) continue;
    set_cell(row, *columns[c], table, cells[c]);
    marked = marked || columns[c]->name == "processed";
  }
  if (row.operator_class.empty())
    table.fail(cells.front(), "this row has no operator; expected a word in the column 'operator'");
  if (!marked && (row.seconds.known() || !row.seconds.samples.empty()))
    row.processed = Processed::yes;
  try {
    settle_row(row);
  } catch (const InputError& error) {
    table.fail(cells.front(), error.what());
  }
  return row;
}

Profile read_own(const std::shared_ptr<const Source>& source) {
  Profile profile;
  profile.path = source->name;
  profile.source = source;
  profile.header = parse_text(header_text(source->text), source->name);
  check_header(profile.header);
  const CsvTable table = read_csv(source);
  const auto columns = columns_of(table);
  const ProfileRow defaults = defaults_of(profile.header);
  for (const auto& cells : table.rows)
    profile.rows.push_back(row_of(table, columns, cells, defaults));
  require_distinct(profile);
  return profile;
}

}  // namespace

void Profile::fail(const ProfileRow& row, const std::string& message) const {
  if (source) throw InputError(position_in(*source, row.line, 1), message);
  throw InputError(path + ": error: row " + std::to_string(row.line) + ": " + message);
}

void require_distinct(const Profile& profile) {
  std::map<std::string, const ProfileRow*> known;
  for (const ProfileRow& row : profile.rows) {
    const auto [found, fresh] = known.emplace(key_of(row), &row);
    if (!fresh)
      profile.fail(
          row,
          "this row repeats the row of line " + std::to_string(found->second->line) + " (" +
              words_of(row) +
              "): give the two rows different nodes or methods, or different values in another column of the "
              "key; or write a single row with all samples under seconds_samples");
  }
}

Profile parse_profile(std::string text, const std::string& name, const std::string& map) {
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);  // Drop the byte order mark.
  const auto source = std::make_shared<const Source>(Source{name, std::move(text)});
  require_text(*source);
  if (source->text.compare(0, first_line.size(), first_line) == 0) {
    if (!map.empty()) throw InputError("'" + name + "' is already a profile: leave out --map");
    return read_own(source);
  }
  return read_foreign_table(source, map);
}

Profile load_profile(const std::string& path, const std::string& map) {
  std::string bytes = read_regular_file(path);
  if (bytes.compare(0, 8, "\x89HDF\r\n\x1a\n") == 0) return hdf5_form(path).read(path);
  return parse_profile(std::move(bytes), path, map);
}

}  // namespace sluice
