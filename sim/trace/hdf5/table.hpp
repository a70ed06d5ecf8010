// Writes a small table of a trace, column by column. Only sim/trace uses this code, and the caller holds
// hdf5::lock(). Throws hdf5::Failure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/hdf5/column.hpp"

namespace sluice {

/// Writes a group whose columns have `rows` rows each.
class Table {
 public:
  Table(Tree& tree, ChunkFilter& filter, std::string group, std::size_t rows)
      : tree_(tree), filter_(filter), group_(std::move(group)), rows_(rows) {
    tree_.group(group_);
  }

  /// Writes a column of numbers. `get(row)` returns the number in a row.
  template <class T, class Get>
  void numbers(const std::string& name, const std::string& unit, const std::string& long_name,
               Get&& get) {
    Column column(tree_, filter_, path(name), Cell::of<T>(), chunk_rows, unit, long_name);
    column.append<T>(rows_, [&](std::size_t row) { return static_cast<T>(get(row)); });
    column.finish();
    columns_.push_back(name);
  }

  template <class Get>
  void texts(const std::string& name, const std::string& long_name, Get&& get) {
    std::vector<const char*> values(rows_);
    for (std::size_t row = 0; row < rows_; ++row) values[row] = get(row).c_str();
    Tree::Texts column(tree_, path(name), rows_, long_name);
    column.append(values);
    column.finish();
    columns_.push_back(name);
  }

  /// Adds a column that other code writes. Then dimension() and scale() include this column.
  void add(const std::string& name) { columns_.push_back(name); }

  void dimension(const std::string& name) { tree_.dimension(group_, name, rows_, columns_); }
  void scale(const std::string& name) {
    std::erase(columns_, name);
    tree_.scale(group_, name, columns_);
  }
  std::string path(const std::string& name) const { return group_ + "/" + name; }

 private:
  static constexpr std::size_t chunk_rows = 32768;

  Tree& tree_;
  ChunkFilter& filter_;
  std::string group_;
  std::size_t rows_;
  std::vector<std::string> columns_;
};

}  // namespace sluice
