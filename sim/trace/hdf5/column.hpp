// A column of a trace is a one-dimensional dataset that grows. Rows are buffered until a chunk is full. The dataset is
// created with the first chunk. If the column ends before the first chunk is full, this chunk is as long as the column.
// Only sim/trace and sim/profile use this code. The caller holds hdf5::lock(). Errors are thrown as hdf5::Failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/sha256.hpp"
#include "trace/hdf5/chunk_filter.hpp"
#include "trace/hdf5/tree.hpp"

namespace sluice {

/// The type of a cell.
struct Cell {
  hid_t type;         ///< HDF5's name of the type
  const char* numpy;  ///< NumPy's name of the type
  std::size_t width;

  template <class T>
  static Cell of() {
    if constexpr (std::is_same_v<T, std::int64_t>) return {H5T_STD_I64LE, "<i8", 8};
    if constexpr (std::is_same_v<T, std::int32_t>) return {H5T_STD_I32LE, "<i4", 4};
    if constexpr (std::is_same_v<T, std::uint32_t>) return {H5T_STD_U32LE, "<u4", 4};
    if constexpr (std::is_same_v<T, std::uint8_t>) return {H5T_STD_U8LE, "|u1", 1};
    if constexpr (std::is_same_v<T, double>) return {H5T_IEEE_F64LE, "<f8", 8};
  }
};

class Column {
 public:
  /// If `unit` is empty, the column has no attribute `units`.
  Column(Tree& tree, ChunkFilter& filter, std::string path, Cell cell, std::size_t chunk_rows,
         std::string unit, std::string long_name);

  /// Appends the numbers get(0), …, get(count - 1). The type T must have the width of a cell.
  template <class T, class Get>
  void append(std::size_t count, Get&& get) {
    for (std::size_t done = 0; done < count;) {
      const std::size_t room = std::min(count - done, chunk_rows_ - filled_);
      make_room(room);
      T* out = reinterpret_cast<T*>(buffer_.data()) + filled_;
      for (std::size_t i = 0; i < room; ++i) out[i] = get(done + i);
      done += room;
      commit(room);
    }
  }

  /// Writes the last, partly filled chunk and closes the dataset.
  void finish();
  std::uint64_t rows() const { return written_ + filled_; }

 private:
  void commit(std::size_t rows) {
    filled_ += rows;
    if (filled_ == chunk_rows_) write_chunk();
  }
  void make_room(std::size_t rows) {
    const std::size_t bytes = (filled_ + rows) * cell_.width;
    if (bytes > buffer_.size()) grow(bytes);
  }
  void grow(std::size_t bytes);
  void create(std::size_t rows_in_chunk);
  void write_chunk();

  Tree& tree_;
  ChunkFilter& filter_;
  std::string path_, unit_, long_name_;
  Cell cell_;
  std::size_t chunk_rows_, filled_ = 0;
  std::uint64_t written_ = 0;
  std::vector<unsigned char> buffer_;
  hdf5::Handle dataset_;
  Sha256 hash_;  ///< the hash of the rows, which does not depend on the size of the chunks
};

/// Writes a two-dimensional dataset of f64 [rows, columns] as a whole. The values are given row by row. Each chunk has
/// whole rows.
void write_matrix(Tree& tree, ChunkFilter& filter, const std::string& path,
                  const std::vector<double>& values, std::size_t columns, const std::string& unit,
                  const std::string& long_name);

}  // namespace sluice
