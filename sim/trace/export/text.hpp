// Functions for the texts that exports write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"

#include "trace/export/export.hpp"

namespace sluice {

/// Collects text, and passes the text on in large pieces.
class Outlet {
 public:
  explicit Outlet(const Write& write) : write_(write) {}
  /// Returns the text, to which callers append.
  std::string& text() { return text_; }
  /// Passes the text on if it has at least 64 KiB. Callers call this function after each row or packet.
  void pass() {
    if (text_.size() >= 1 << 16) finish();
  }
  void finish() {
    if (!text_.empty()) write_(text_);
    text_.clear();
  }

 private:
  const Write& write_;
  std::string text_;
};

/// Returns a JSON string with its quotes. The string may be put into an HTML page: `<` is written as \u003c. U+2028 and
/// U+2029 are escaped, too. Old versions of JavaScript read these two characters as line ends.
std::string json_string(std::string_view text);

/// Returns a number as JSON. A whole number is written without a fraction. A number that is not finite is written as
/// null.
std::string json_number_text(double number);

/// Returns a table as a data island. A data island is JSON that a page embeds and plots: {"func": "quick_plot", "data":
/// [[heading, ...], [cell, ...], ...]}. Cells are JSON texts. The form comes from the document 'AlexNet on one card'.
std::string data_island(const std::vector<std::vector<std::string>>& rows);

}  // namespace sluice
