// Reads any table in CSV as a profile. A document, the map, says what the columns of the table mean.
#include <algorithm>

#include "base/quantity.hpp"
#include "document/choice.hpp"
#include "document/key.hpp"
#include "document/load.hpp"
#include "model/expression.hpp"
#include "profile/cells.hpp"
#include "profile/columns.hpp"
#include "profile/header.hpp"
#include "profile/merge.hpp"
#include "profile/tables/table.hpp"

namespace sluice {
namespace {

Field text_field(std::string name, std::string summary) {
  return Key::text(std::move(name), std::move(summary)).or_absent();
}

const Record& map_record() {
  static const Record record = {
      .name = "the map of a table",
      .summary = "Says from which columns of a table the columns of a profile come.",
      .fields = {
          text_field("format", "sluice-profile-map/1"),
          Key::mapping("header", "the keys of the profile's header").or_absent(),
          Key::choice("file_name", {"device", "model"},
                      "the column of the profile that gets the file's name")
              .or_absent(),
          Key::choice(
              "repeats", {"refused", "pooled"},
              "what happens to rows that differ only in measured values; refused: this is an error; pooled: they "
              "become one row")
              .by_default("refused"),
          Key::mapping("columns", "says for each column of the profile where its cells come from"),
          Key::list(
              "each",
              "a list of mappings like `columns`; each row of the table becomes several rows of the "
              "profile, one for each of these mappings")
              .or_absent()}};
  return record;
}

const Record& origin_record() {
  static const Record record = {
      .name = "a column of the map",
      .summary = "Where the cells of a column come from.",
      .fields = {text_field("column", "the table's column"),
                 text_field("unit", "the unit of the column's numbers, such as ms, us, mJ or kB"),
                 text_field("until", "only the part of a cell before this text is used"),
                 text_field("separator", "the text between the parts of a list"),
                 text_field("text", "a text that every row has"),
                 text_field("expression", "a formula of columns with whole numbers: 2 * $m * $n")}};
  return record;
}

/// Returns the factor that converts numbers from the table's unit to the unit of the profile's column.
double factor_of(const Reader& keys, const ProfileColumn& column) {
  if (!keys.has("unit")) return 1;
  if (column.dimension == Dimension::none)
    keys.fail("unit", "the column '" + column.name + "' has no unit: remove the key 'unit'");
  const std::string unit = keys.text("unit");
  const std::vector<std::string> known = units_of(column.dimension);
  if (std::find(known.begin(), known.end(), unit) == known.end())
    keys.fail("unit", "'" + unit + "' is not a unit of the column '" + column.name + "'" +
                          did_you_mean(unit, known) + ": expected one of " + join(known));
  return parse_quantity("1" + unit, column.dimension);
}

/// Says where the cells of one column of the profile come from.
class Origin {
 public:
  Origin(const CsvTable& table, const Value::Entry& entry)
      : table_(table),
        column_(located_column(entry)),
        map_(normal(entry.value)),
        sizes_(column_.name == "sizes" && !is_origin(entry.value)) {
    if (sizes_) {
      for (const Value::Entry& size : entry.value.entries())
        places_.emplace_back(size.key, place_of(size.value));
      return;
    }
    const Reader keys(map_, origin_record());
    factor_ = factor_of(keys, column_);
    if (keys.has("column")) place_ = place_of(*keys.value("column"));
    for (const auto& [name, member] :
         {std::pair("text", &Origin::text_), std::pair("until", &Origin::until_),
          std::pair("separator", &Origin::separator_),
          std::pair("expression", &Origin::expression_)})
      if (keys.has(name)) this->*member = keys.text(name);
    const int ways = keys.has("column") + keys.has("text") + keys.has("expression");
    if (ways != 1)
      fail_at(entry.value,
              "'" + entry.key + "' needs exactly one of the keys column, text and expression");
  }

  void fill(ProfileRow& row, const std::vector<CsvCell>& cells) const {
    const CsvCell& where = place_ ? cells[*place_] : cells.front();
    try {
      const std::string text = text_of(cells);
      if (!text.empty()) column_.set(row, text);
    } catch (const InputError& error) {
      table_.fail(where, column_.name + ": " + error.what());
    }
  }

 private:
  static const ProfileColumn& located_column(const Value::Entry& entry) {
    try {
      return profile_column(entry.key);
    } catch (const InputError& error) {
      throw InputError(entry.position(), error.what());
    }
  }

  static bool is_origin(const Value& value) {
    return value.is_scalar() || value.find("column") || value.find("text");
  }

  static Value normal(const Value& value) {
    if (!value.is_scalar()) return value;
    Value map = Value::make_map();
    map.set("column", value);
    return map;
  }

  std::size_t place_of(const Value& name) const {
    std::vector<std::string> known;
    for (const CsvCell& cell : table_.heading) known.push_back(cell.text);
    const auto found = std::find(known.begin(), known.end(), name.text());
    if (found == known.end())
      fail_at(name, "the table has no column '" + name.text() + "'" +
                        did_you_mean(name.text(), known) + "; it has: " + join(known));
    return static_cast<std::size_t>(found - known.begin());
  }

  std::string text_of(const std::vector<CsvCell>& cells) const {
    if (sizes_) return sizes_text(cells);
    if (!expression_.empty()) return std::to_string(evaluate(expression_, whole_numbers(cells)));
    if (!place_) return text_;
    std::string text = cells[*place_].text;
    if (!until_.empty()) text = text.substr(0, text.find(until_));
    if (!separator_.empty()) text = cell::text_of(cell::parts_of(text, separator_.front()));
    if (factor_ != 1 && !text.empty()) text = exact(cell::number(text) * factor_);
    return text;
  }

  std::string sizes_text(const std::vector<CsvCell>& cells) const {
    std::vector<std::pair<std::string, std::int64_t>> sizes;
    for (const auto& [name, place] : places_)
      if (!cells[place].text.empty()) sizes.emplace_back(name, cell::whole(cells[place].text, 0));
    return sizes.empty() ? "" : cell::text_of(sizes);
  }

  Parameters whole_numbers(const std::vector<CsvCell>& cells) const {
    Parameters numbers;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string& text = cells[c].text;
      if (!text.empty() && text.size() < 19 &&
          text.find_first_not_of("0123456789") == std::string::npos)
        numbers[table_.heading[c].text] = std::stoll(text);
    }
    return numbers;
  }

  const CsvTable& table_;
  const ProfileColumn& column_;
  Value map_;
  bool sizes_ = false;
  double factor_ = 1;
  std::optional<std::size_t> place_;
  std::string text_, until_, separator_, expression_;
  std::vector<std::pair<std::string, std::size_t>> places_;
};

std::vector<Origin> origins_of(const CsvTable& table, const Value& columns) {
  std::vector<Origin> origins;
  for (const Value::Entry& entry : columns.entries()) origins.emplace_back(table, entry);
  return origins;
}

/// Returns the name of a file without its folder and extension: "gemm_a100_sxm_bf16" for /data/gemm_a100_sxm_bf16.csv.
std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.substr(0, name.find('.'));
}

Value header_of(const Reader& keys, const CsvTable& table) {
  Value header = Value::make_map();
  header.set("format", Value::make(std::string("sluice-profile/1")));
  if (const Value* said = keys.value("header"))
    for (const Value::Entry& entry : said->entries()) header.set(entry.key, entry.value);
  if (keys.has("file_name") && keys.text("file_name") == "device" && !header.find("device"))
    header.set("device", Value::make(stem_of(table.source->name)));
  check_header(header);
  return header;
}

ProfileRow row_of(const CsvTable& table, const std::vector<CsvCell>& cells,
                  const std::vector<Origin>& common, const std::vector<Origin>& own) {
  ProfileRow row;
  row.line = cells.front().line;
  for (const auto* origins : {&common, &own})
    for (const Origin& origin : *origins) origin.fill(row, cells);
  if (row.operator_class.empty())
    table.fail(cells.front(), "this row has no operator; the map must give an operator");
  row.processed =
      row.seconds.known() || !row.seconds.samples.empty() ? Processed::yes : Processed::no;
  try {
    settle_row(row);
  } catch (const InputError& error) {
    table.fail(cells.front(), error.what());
  }
  return row;
}

}  // namespace

Profile read_by_map(const CsvTable& table, const Value& map) {
  require_format(map, "profile-map");
  const Reader keys(map, map_record());
  Profile profile;
  profile.path = table.source->name;
  profile.source = table.source;
  profile.header = header_of(keys, table);
  const std::vector<Origin> common = origins_of(table, *keys.value("columns"));
  std::vector<std::vector<Origin>> sets;
  if (const Value* each = keys.value("each"))
    for (const Value& columns : each->items()) sets.push_back(origins_of(table, columns));
  if (sets.empty()) sets.emplace_back();
  for (const auto& cells : table.rows)
    for (const auto& own : sets) {
      ProfileRow row = row_of(table, cells, common, own);
      if (row.device.empty()) row.device = profile.text("device");
      if (row.model.empty() && keys.has("file_name") && keys.text("file_name") == "model")
        row.model = stem_of(profile.path);
      profile.rows.push_back(std::move(row));
    }
  if (keys.text("repeats") == "pooled") return without_repeats(std::move(profile));
  require_distinct(profile);
  return profile;
}

namespace {

bool has_heading(const CsvTable& table, const std::vector<std::string>& heading) {
  return !heading.empty() && std::all_of(heading.begin(), heading.end(), [&](const auto& name) {
    return std::any_of(table.heading.begin(), table.heading.end(),
                       [&](const CsvCell& cell) { return cell.text == name; });
  });
}

}  // namespace

Profile read_foreign_table(const std::shared_ptr<const Source>& source, const std::string& map) {
  if (!map.empty()) return read_by_map(read_csv(source), load_file(map));
  for (const ForeignTable* table : foreign_tables().entries()) {
    const std::string& end = table->ending;
    const std::string& name = source->name;
    if (!end.empty() && name.size() > end.size() &&
        name.compare(name.size() - end.size(), end.size(), end) == 0)
      return table->read(source);
  }
  const CsvTable csv = read_csv(source);
  // The heading may match several kinds of tables in the catalog. Of these, the kind with the most columns is used.
  const ForeignTable* known = nullptr;
  for (const ForeignTable* table : foreign_tables().entries())
    if (has_heading(csv, table->heading) &&
        (!known || table->heading.size() > known->heading.size()))
      known = table;
  if (known) return read_by_map(csv, parse_text(known->map, known->name + ".yaml"));
  throw InputError(
      position_in(*source, 1, 1),
      "this is neither a profile, which begins with '# format: sluice-profile/1', nor a table with a known heading (" +
          join(foreign_tables().names()) +
          "); use --map MAP.yaml to say what the columns of the table mean");
}

}  // namespace sluice
