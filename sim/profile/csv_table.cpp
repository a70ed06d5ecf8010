#include "profile/csv_table.hpp"

#include <set>

namespace sluice {
namespace {

class Parser {
 public:
  explicit Parser(CsvTable& table) : table_(table), text_(table.source->text) {}

  void parse() {
    // The text may begin with a byte order mark, which is skipped.
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = line_start_ = 3;
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        end_line();
      } else if (text_[at_] == '\n' || text_[at_] == '\r') {
        end_line();
      } else {
        add(row());
      }
    }
  }

 private:
  std::vector<CsvCell> row() {
    std::vector<CsvCell> cells = {cell()};
    while (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      cells.push_back(cell());
    }
    end_line();
    return cells;
  }

  CsvCell cell() {
    CsvCell cell{.line = line_, .column = static_cast<int>(at_ - line_start_) + 1};
    if (at_ < text_.size() && text_[at_] == '"') {
      quoted(cell);
    } else {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      cell.text = text_.substr(at_, end - at_);
      at_ = end;
    }
    return cell;
  }

  void quoted(CsvCell& cell) {
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) table_.fail(cell, "this quote is not closed");
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      } else if (text_[at_] == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
      cell.text += text_[at_];
    }
    ++at_;
    if (at_ < text_.size() && std::string_view(",\r\n").find(text_[at_]) == std::string_view::npos)
      table_.fail(cell,
                  "text follows the closing quote; expected a comma: write a quote inside a text as \"\"");
  }

  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    line_start_ = at_;
  }

  void add(std::vector<CsvCell> cells) {
    if (table_.heading.empty()) {
      table_.heading = std::move(cells);
      std::set<std::string> names;
      for (const CsvCell& cell : table_.heading)
        if (!names.insert(cell.text).second)
          table_.fail(cell, "the column '" + cell.text + "' occurs twice in the heading");
      return;
    }
    if (cells.size() != table_.heading.size())
      table_.fail(cells.front(), "this row has " + std::to_string(cells.size()) +
                                     " cells; expected " + std::to_string(table_.heading.size()) +
                                     " cells, as many as the heading has");
    table_.rows.push_back(std::move(cells));
  }

  CsvTable& table_;
  const std::string& text_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
};

}  // namespace

void CsvTable::fail(const CsvCell& cell, const std::string& message) const {
  throw InputError(position_in(*source, cell.line, cell.column), message);
}

CsvTable read_csv(std::shared_ptr<const Source> source) {
  CsvTable table;
  table.source = std::move(source);
  Parser(table).parse();
  if (table.heading.empty())
    throw InputError(Position{table.source->name, 0, 0, ""},
                     "there is no table; expected a line with the names of its columns");
  return table;
}

}  // namespace sluice
