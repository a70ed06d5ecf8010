// Reads the columns of one group in blocks. A cell may hold a code, which is the number of a row in another table.
// within() checks such a number. Only sim/trace includes this header. The caller holds hdf5::lock(). Throws
// hdf5::Failure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/hdf5/file_reader.hpp"

namespace sluice {

/// Checks `code`, the number of a row in another table, and returns it. That table has `size` rows. Throws
/// hdf5::Failure if it has no row `code`.
template <class Code>
Code within(Code code, std::size_t size, const char* what) {
  if (static_cast<std::size_t>(code) >= size)
    throw hdf5::Failure(std::string(what) + " number " + std::to_string(code) +
                        " is not in its table");
  return code;
}

/// The columns of one group, which are opened together and have equal lengths.
class Columns {
 public:
  Columns(const FileReader& file, std::string group) : file_(file), group_(std::move(group)) {}

  void open(const char* name) {
    const std::string path = group_ + "/" + name;
    FileReader::OpenColumn opened = file_.open_column(path);
    if (!datasets_.empty() && opened.rows != rows_)
      throw hdf5::Failure(path + " has " + std::to_string(opened.rows) + " rows, not " +
                          std::to_string(rows_));
    rows_ = opened.rows;
    datasets_.push_back(std::move(opened.data));
  }
  std::uint64_t rows() const { return rows_; }

  /// Reads one block of one column.
  template <class T, class Put>
  void read(std::size_t column, std::uint64_t begin, std::size_t count, Put&& put) const {
    std::vector<T> values(count);
    file_.read(datasets_[column], begin, values);
    for (std::size_t i = 0; i < count; ++i) put(i, values[i]);
  }

 private:
  const FileReader& file_;
  std::string group_;
  std::vector<hdf5::Handle> datasets_;
  std::uint64_t rows_ = 0;
};

}  // namespace sluice
