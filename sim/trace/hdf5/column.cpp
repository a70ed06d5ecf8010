#include "trace/hdf5/column.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

namespace sluice {

using hdf5::check;
using hdf5::Handle;

static_assert(
    std::endian::native == std::endian::little,
    "columns are written with the byte order of this computer, which must be little-endian");

namespace {

/// Creates HDF5's properties for a dataset whose chunks are stored with shuffle, deflate and fletcher32.
Handle filtered(int rank, const hsize_t* chunk, std::size_t width, const std::string& what) {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
  check(H5Pset_chunk(creation, rank, chunk), what);
  if (width > 1) check(H5Pset_shuffle(creation), what);
  check(H5Pset_deflate(creation, 1), what);
  check(H5Pset_fletcher32(creation), what);
  return creation;
}

}  // namespace

Column::Column(Tree& tree, ChunkFilter& filter, std::string path, Cell cell, std::size_t chunk_rows,
               std::string unit, std::string long_name)
    : tree_(tree),
      filter_(filter),
      path_(std::move(path)),
      unit_(std::move(unit)),
      long_name_(std::move(long_name)),
      cell_(cell),
      chunk_rows_(std::max<std::size_t>(1, chunk_rows)) {}

void Column::grow(std::size_t bytes) {
  const std::size_t whole = chunk_rows_ * cell_.width;
  buffer_.resize(std::min(whole, std::max(bytes, 2 * buffer_.size())));
}

void Column::create(std::size_t rows_in_chunk) {
  const std::string what = "create dataset " + path_;
  const hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = rows_in_chunk;
  const Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose, what);
  const Handle creation = filtered(1, &chunk, cell_.width, what);
  dataset_ = Handle(H5Dcreate2(tree_.file(), path_.c_str(), cell_.type, space, H5P_DEFAULT,
                               creation, H5P_DEFAULT),
                    H5Dclose, what);
  if (!unit_.empty()) tree_.first_attribute(dataset_, path_, "units", unit_);
  tree_.first_attribute(dataset_, path_, "long_name", long_name_);
}

void Column::write_chunk() {
  const std::string what = "write " + path_;
  const std::size_t used = filled_ * cell_.width;
  hash_.update(buffer_.data(), used);
  // All chunks of a column have the same length. So the last chunk is filled up with zeros. These zeros are never read.
  const std::size_t stored_rows = dataset_ ? chunk_rows_ : filled_;
  if (!dataset_) create(stored_rows);
  std::memset(buffer_.data() + used, 0, stored_rows * cell_.width - used);
  const auto stored = filter_.encode(buffer_.data(), stored_rows, cell_.width);
  const hsize_t offset = written_, rows = written_ + filled_;
  check(H5Dset_extent(dataset_, &rows), what);
  check(H5Dwrite_chunk(dataset_, H5P_DEFAULT, 0, &offset, stored.size(), stored.data()), what);
  written_ = rows;
  filled_ = 0;
}

void Column::finish() {
  if (filled_ > 0) write_chunk();
  if (!dataset_) create(1);
  tree_.record(path_, cell_.numpy, std::to_string(written_), hash_.hex());
  check(dataset_.close(), "close " + path_);
  buffer_ = {};
}

void write_matrix(Tree& tree, ChunkFilter& filter, const std::string& path,
                  const std::vector<double>& values, std::size_t columns, const std::string& unit,
                  const std::string& long_name) {
  constexpr std::size_t cells_in_chunk = 32768;
  const std::string what = "write " + path;
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  const std::size_t together = std::clamp<std::size_t>(
      cells_in_chunk / std::max<std::size_t>(1, columns), 1, std::max<std::size_t>(1, rows));
  const std::array<hsize_t, 2> extent = {rows, columns},
                               chunk = {together, std::max<std::size_t>(1, columns)};
  const Handle space(H5Screate_simple(2, extent.data(), nullptr), H5Sclose, what);
  const Handle creation = filtered(2, chunk.data(), sizeof(double), what);
  Handle dataset(H5Dcreate2(tree.file(), path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, creation,
                            H5P_DEFAULT),
                 H5Dclose, what);
  tree.first_attribute(dataset, path, "units", unit);
  tree.first_attribute(dataset, path, "long_name", long_name);
  std::vector<double> block;
  for (std::size_t row = 0; row < rows; row += together) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * columns);
    block.assign(begin,
                 begin + static_cast<std::ptrdiff_t>(std::min(together, rows - row) * columns));
    block.resize(together * columns, 0);  // Zeros after the last row are never read.
    const auto stored = filter.encode(reinterpret_cast<const unsigned char*>(block.data()),
                                      block.size(), sizeof(double));
    const std::array<hsize_t, 2> offset = {row, 0};
    check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset.data(), stored.size(), stored.data()),
          what);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                               rows * columns * sizeof(double));
  tree.record(path, "<f8", std::to_string(rows) + "," + std::to_string(columns), sha256_of(bytes));
  check(dataset.close(), "close " + path);
}

}  // namespace sluice
