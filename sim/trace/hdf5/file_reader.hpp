// Reads datasets and attributes of an HDF5 file that may come from a stranger. The functions refuse soft links, and
// links to other files. They refuse datasets whose values are in other files (external or virtual datasets). They check
// every size that the file declares. Only sim/trace and sim/profile use this code, and the caller holds hdf5::lock().
// Throws hdf5::Failure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "trace/hdf5/hdf5.hpp"

namespace sluice {

class FileReader {
 public:
  /// Opens the file for reading.
  explicit FileReader(const std::string& path);

  /// Returns whether the file has a group, a dataset or a link at this path. The functions below refuse links.
  bool has(const std::string& path) const;
  bool is_group(const std::string& path) const;
  /// Returns the members' names in the order of their creation. If the file lacks this order, the names are sorted.
  std::vector<std::string> members(const std::string& group) const;

  bool has_attribute(const std::string& path, const std::string& name) const;
  std::string text_attribute(const std::string& path, const std::string& name) const;
  std::string text_attribute_or(const std::string& path, const std::string& name,
                                const std::string& otherwise) const;
  std::vector<std::int32_t> integer_attribute(const std::string& path,
                                              const std::string& name) const;
  double number_attribute(const std::string& path, const std::string& name) const;

  bool is_text(const std::string& path) const;      ///< whether a dataset is a text
  std::string text(const std::string& path) const;  ///< the text of a scalar dataset
  double number(const std::string& path) const;     ///< the number of a scalar dataset

  /// An open column. The column is opened only once, although first its length is read, and then its rows.
  struct OpenColumn {
    hdf5::Handle data;
    std::uint64_t rows = 0;
  };
  OpenColumn open_column(const std::string& path) const;
  hdf5::Handle dataset(const std::string& path) const;
  std::uint64_t rows(const std::string& path) const;  ///< the length of a column
  std::vector<std::string> texts(const std::string& path) const;
  /// Fills `out` with rows of an open column, from row `begin` on. The numbers are converted to the type T.
  template <class T>
  void read(hid_t dataset, std::uint64_t begin, std::vector<T>& out) const;
  template <class T>
  std::vector<T> column(const std::string& path) const {
    const OpenColumn opened = open_column(path);
    std::vector<T> all(opened.rows);
    read(opened.data, 0, all);
    return all;
  }
  /// Reads a whole column of numbers of any type. Profiles may come from
  /// other programs, so the column may be stored in chunks or in one piece.
  std::vector<double> numbers(const std::string& path) const;
  /// Reads a whole two-dimensional dataset of numbers, row by row. The dataset must have the given numbers of rows and
  /// columns.
  std::vector<double> matrix(const std::string& path, std::size_t rows, std::size_t columns) const;

 private:
  /// A dataset and its creation properties (layout, chunks, …). HDF5 copies the creation properties at each request. So
  /// this object keeps one copy.
  struct Dataset {
    hdf5::Handle data, creation;
  };
  Dataset open(const std::string& path) const;
  std::uint64_t rows_of(const Dataset& dataset, const std::string& path) const;
  void require_inside(const std::string& path) const;
  hdf5::Handle object(const std::string& path) const;
  hdf5::Handle attribute(const hdf5::Handle& object, const std::string& name) const;
  hdf5::Handle file_;
  /// Paths that require_inside() has already checked: each is a group of this file, not a link to another object.
  mutable std::set<std::string> inside_;
};

}  // namespace sluice
