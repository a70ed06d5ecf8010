#include "command/page.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "command/terminal.hpp"

namespace sluice {
namespace {

/// Removes the sequences ESC [ … m, which switch colours.
std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
      continue;
    }
    plain += text[i];
  }
  return plain;
}

/// Returns the column at which the text of a line begins. A line is broken only after this column. A line may begin
/// with a label that ends with two blanks. Then the text begins behind the label, if at least half of the page remains
/// for the text.
std::size_t beginning(const std::string& line, std::size_t page) {
  const std::size_t indent = line.find_first_not_of(' ');
  const std::size_t gap = line.find("  ", indent);
  if (gap == std::string::npos) return indent;
  const std::size_t text = line.find_first_not_of(' ', gap);
  return text == std::string::npos || text > page / 2 ? indent : text;
}

std::string folded_line(const std::string& line, std::size_t page) {
  if (page == 0 || shown_columns(line) <= page) return line + "\n";
  const std::size_t begin = beginning(line, page);
  std::string head = line.substr(0, begin), text;
  for (const std::string& part : broken(line.substr(begin), page - shown_columns(head))) {
    text += head + part + "\n";
    head = std::string(shown_columns(head), ' ');
  }
  return text;
}

bool is_prose(const std::string& line) {
  return !line.empty() && line.front() != ' ' && line.find("  ") == std::string::npos;
}

template <class Each>
void each_line(std::string_view text, Each&& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::size_t page_width() {
  if (const int width = terminal_width(0); width > 0) return static_cast<std::size_t>(width);
  const char* const columns = std::getenv("COLUMNS");
  std::size_t width = 0;
  if (columns) std::from_chars(columns, columns + std::strlen(columns), width);
  return width;
}

std::size_t shown_columns(std::string_view text) {
  return text.find('\x1b') == std::string_view::npos ? columns_of(text)
                                                     : columns_of(without_colours(text));
}

std::vector<std::string> broken(std::string_view text, std::size_t room) {
  std::vector<std::string> lines;
  if (room == 0) return {std::string(text)};
  std::string line;
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', blanks), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    if (!line.empty() && shown_columns(line) + blanks + shown_columns(word) > room) {
      lines.push_back(std::move(line));
      line = word;
    } else {
      line += text.substr(0, end);
    }
    text.remove_prefix(end);
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string folded(std::string_view text, std::size_t page) {
  std::string lines;
  each_line(text, [&](const std::string& line) { lines += folded_line(line, page); });
  return lines;
}

std::string indented(std::string_view text) {
  std::string lines;
  each_line(text, [&](const std::string& line) { lines += "  " + line + "\n"; });
  return lines;
}

std::string reflowed(std::string_view text, std::size_t page) {
  std::string lines, paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) lines += folded_line(paragraph, page);
    paragraph.clear();
  };
  each_line(text, [&](const std::string& line) {
    if (is_prose(line)) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      return;
    }
    flush();
    lines += folded_line(line, page);
  });
  flush();
  return lines;
}

}  // namespace sluice
