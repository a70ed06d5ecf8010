// Functions that write the pieces of text that exports consist of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"

#include "trace/export/export.hpp"

namespace sluice {

/// Collects text and passes it on in large pieces.
class Outlet {
 public:
  explicit Outlet(const Write& write) : write_(write) {}
  /// Returns the text; callers append to it.
  std::string& text() { return text_; }
  /// Must be called after each row or packet.
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

/// Returns a JSON string with its quotes. It is also safe inside HTML: `<` is written as \u003c, and the two separators
/// that older JavaScript takes for line ends are escaped.
std::string json_string(std::string_view text);

/// Returns a JSON number: without a fraction if it is whole, null if it is not finite.
std::string json_number_text(double number);

/// Returns a table as a data island, which is JSON that a page embeds and plots: {"func": "quick_plot", "data":
/// [[heading, ...], [cell, ...], ...]}. Cells are JSON texts. The form comes from the document 'AlexNet on one card'.
std::string data_island(const std::vector<std::vector<std::string>>& rows);

}  // namespace sluice
