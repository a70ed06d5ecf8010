#include "trace/hdf5/file_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/hdf5/column.hpp"

namespace sluice {

using hdf5::check;
using hdf5::Failure;
using hdf5::Handle;

namespace {

constexpr std::uint64_t most_rows = std::uint64_t{1} << 40;

herr_t collect(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// Reads an attribute or dataset that holds one text. `read(type, buffer)` copies the text into `buffer`.
template <class Read>
std::string read_text(hid_t type, hid_t space, const std::string& what, Read&& read) {
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    throw Failure(what + " is not a text");
  if (check(H5Tis_variable_str(type), what) > 0) {
    const Handle memory(H5Tcopy(type), H5Tclose, what);
    char* text = nullptr;
    check(read(memory, &text), what);
    std::string copy = text == nullptr ? "" : text;
    H5free_memory(text);
    return copy;
  }
  std::string text(H5Tget_size(type), '\0');
  check(read(type, text.data()), what);
  return text.c_str();
}

}  // namespace

FileReader::FileReader(const std::string& path)
    : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open") {}

void FileReader::require_inside(const std::string& path) const {
  for (std::size_t end = 1; end != std::string::npos && path != "/";) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (inside_.count(part) != 0) continue;
    H5L_info_t info;
    if (H5Lget_info(file_, part.c_str(), &info, H5P_DEFAULT) < 0)
      throw Failure(part + " is missing");
    if (info.type != H5L_TYPE_HARD)
      throw Failure(part + " is a link to another object, which is not allowed");
    if (end != std::string::npos) inside_.insert(part);
  }
}

bool FileReader::has(const std::string& path) const {
  const auto slash = path.rfind('/');
  if (slash > 0 && !has(path.substr(0, slash))) return false;
  return H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0;
}

Handle FileReader::object(const std::string& path) const {
  require_inside(path);
  return Handle(H5Oopen(file_, path.c_str(), H5P_DEFAULT), H5Oclose, path);
}

bool FileReader::is_group(const std::string& path) const {
  return H5Iget_type(object(path)) == H5I_GROUP;
}

std::vector<std::string> FileReader::members(const std::string& path) const {
  const Handle group = object(path);
  if (H5Iget_type(group) != H5I_GROUP) throw Failure(path + " is not a group");
  const Handle creation(H5Gget_create_plist(group), H5Pclose, path);
  unsigned order = 0;
  check(H5Pget_link_creation_order(creation, &order), path);
  std::vector<std::string> names;
  check(H5Literate(group, (order & H5P_CRT_ORDER_INDEXED) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                   H5_ITER_INC, nullptr, collect, &names),
        path);
  return names;
}

bool FileReader::has_attribute(const std::string& path, const std::string& name) const {
  return check(H5Aexists(object(path), name.c_str()), path) > 0;
}

Handle FileReader::attribute(const Handle& object, const std::string& name) const {
  if (check(H5Aexists(object, name.c_str()), name) == 0)
    throw Failure("attribute '" + name + "' is missing");
  return Handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "attribute " + name);
}

std::string FileReader::text_attribute(const std::string& path, const std::string& name) const {
  const Handle owner = object(path);
  const Handle found = attribute(owner, name);
  const Handle type(H5Aget_type(found), H5Tclose, name);
  const Handle space(H5Aget_space(found), H5Sclose, name);
  return read_text(type, space, "attribute " + name,
                   [&](hid_t memory, void* out) { return H5Aread(found, memory, out); });
}

std::string FileReader::text_attribute_or(const std::string& path, const std::string& name,
                                          const std::string& otherwise) const {
  return has_attribute(path, name) ? text_attribute(path, name) : otherwise;
}

std::vector<std::int32_t> FileReader::integer_attribute(const std::string& path,
                                                        const std::string& name) const {
  const Handle owner = object(path);
  const Handle found = attribute(owner, name);
  const Handle type(H5Aget_type(found), H5Tclose, name);
  const Handle space(H5Aget_space(found), H5Sclose, name);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) != H5T_INTEGER || size < 1 || size > 1024)
    throw Failure("attribute '" + name + "' is not a list of integers");
  std::vector<std::int32_t> values(static_cast<std::size_t>(size));
  check(H5Aread(found, H5T_NATIVE_INT32, values.data()), name);
  return values;
}

double FileReader::number_attribute(const std::string& path, const std::string& name) const {
  const Handle owner = object(path);
  const Handle found = attribute(owner, name);
  const Handle type(H5Aget_type(found), H5Tclose, name);
  const Handle space(H5Aget_space(found), H5Sclose, name);
  if (H5Tget_class(type) != H5T_FLOAT || H5Sget_simple_extent_npoints(space) != 1)
    throw Failure("attribute '" + name + "' is not a number");
  double value = 0;
  check(H5Aread(found, H5T_NATIVE_DOUBLE, &value), name);
  return value;
}

FileReader::Dataset FileReader::open(const std::string& path) const {
  require_inside(path);
  Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, path);
  Handle creation(H5Dget_create_plist(data), H5Pclose, path);
  if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) != 0)
    throw Failure(path + " keeps its data in another file, which is not allowed");
  return {std::move(data), std::move(creation)};
}

Handle FileReader::dataset(const std::string& path) const {
  return open(path).data;
}

bool FileReader::is_text(const std::string& path) const {
  const Handle type(H5Dget_type(dataset(path)), H5Tclose, path);
  return H5Tget_class(type) == H5T_STRING;
}

std::string FileReader::text(const std::string& path) const {
  const Handle data = dataset(path);
  const Handle type(H5Dget_type(data), H5Tclose, path);
  const Handle space(H5Dget_space(data), H5Sclose, path);
  return read_text(type, space, path, [&](hid_t memory, void* out) {
    return H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

double FileReader::number(const std::string& path) const {
  const Handle data = dataset(path);
  const Handle type(H5Dget_type(data), H5Tclose, path);
  const Handle space(H5Dget_space(data), H5Sclose, path);
  if (H5Tget_class(type) != H5T_FLOAT || H5Sget_simple_extent_npoints(space) != 1)
    throw Failure(path + " is not a number");
  double value = 0;
  check(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), path);
  return value;
}

FileReader::OpenColumn FileReader::open_column(const std::string& path) const {
  Dataset opened = open(path);
  const std::uint64_t rows = rows_of(opened, path);
  return {std::move(opened.data), rows};
}

std::uint64_t FileReader::rows(const std::string& path) const {
  return open_column(path).rows;
}

std::uint64_t FileReader::rows_of(const Dataset& dataset, const std::string& path) const {
  const auto& [data, creation] = dataset;
  const Handle space(H5Dget_space(data), H5Sclose, path);
  if (H5Sget_simple_extent_ndims(space) != 1 || H5Pget_layout(creation) != H5D_CHUNKED)
    throw Failure(path + " is not a column");
  hsize_t size = 0, chunk = 0, chunks = 0;
  check(H5Sget_simple_extent_dims(space, &size, nullptr), path);
  check(H5Pget_chunk(creation, 1, &chunk), path);
  check(H5Dget_num_chunks(data, space, &chunks), path);
  // HDF5 would return zeros for rows that the file declares but does not store. So the chunks are counted.
  if (size > most_rows || chunk == 0 || chunks != (size + chunk - 1) / chunk)
    throw Failure(path + " lacks some of its rows");
  return size;
}

std::vector<double> FileReader::numbers(const std::string& path) const {
  const Dataset found = open(path);
  const auto& [data, creation] = found;
  const Handle type(H5Dget_type(data), H5Tclose, path);
  const Handle space(H5Dget_space(data), H5Sclose, path);
  const H5T_class_t kind = H5Tget_class(type);
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || H5Sget_simple_extent_ndims(space) != 1)
    throw Failure(path + " is not a column of numbers");
  hsize_t size = 0;
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    size = rows_of(found, path);
  } else {
    check(H5Sget_simple_extent_dims(space, &size, nullptr), path);
    if (size > most_rows || H5Dget_storage_size(data) != size * H5Tget_size(type))
      throw Failure(path + " lacks some of its rows");
  }
  std::vector<double> all(size);
  read(data, 0, all);
  return all;
}

std::vector<double> FileReader::matrix(const std::string& path, std::size_t rows,
                                       std::size_t columns) const {
  const Dataset found = open(path);
  const auto& [data, creation] = found;
  const Handle space(H5Dget_space(data), H5Sclose, path);
  std::array<hsize_t, 2> extent{}, chunk{};
  hsize_t chunks = 0;
  if (H5Sget_simple_extent_ndims(space) != 2 || H5Pget_layout(creation) != H5D_CHUNKED)
    throw Failure(path + " is not a table of two dimensions");
  check(H5Sget_simple_extent_dims(space, extent.data(), nullptr), path);
  check(H5Pget_chunk(creation, 2, chunk.data()), path);
  check(H5Dget_num_chunks(data, space, &chunks), path);
  if (extent[0] != rows || extent[1] != columns)
    throw Failure(path + " is not " + std::to_string(rows) + " x " + std::to_string(columns));
  hsize_t expected = 1;
  for (std::size_t d = 0; d < 2; ++d) expected *= (extent[d] + chunk[d] - 1) / chunk[d];
  if (chunks != expected) throw Failure(path + " lacks some of its rows");
  std::vector<double> all(rows * columns);
  if (!all.empty())
    check(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), path);
  return all;
}

template <class T>
void FileReader::read(hid_t data, std::uint64_t begin, std::vector<T>& out) const {
  if (out.empty()) return;
  const hsize_t offset = begin, count = out.size();
  const Handle space(H5Dget_space(data), H5Sclose, "column");
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, "column");
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &offset, nullptr, &count, nullptr), "column");
  check(H5Dread(data, Cell::of<T>().type, memory, space, H5P_DEFAULT, out.data()), "column");
}

template void FileReader::read(hid_t, std::uint64_t, std::vector<double>&) const;
template void FileReader::read(hid_t, std::uint64_t, std::vector<std::int64_t>&) const;
template void FileReader::read(hid_t, std::uint64_t, std::vector<std::int32_t>&) const;
template void FileReader::read(hid_t, std::uint64_t, std::vector<std::uint32_t>&) const;
template void FileReader::read(hid_t, std::uint64_t, std::vector<std::uint8_t>&) const;

std::vector<std::string> FileReader::texts(const std::string& path) const {
  const Handle data = dataset(path);
  const Handle type(H5Dget_type(data), H5Tclose, path);
  const Handle space(H5Dget_space(data), H5Sclose, path);
  hsize_t total = 0;
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) <= 0 ||
      H5Sget_simple_extent_ndims(space) != 1)
    throw Failure(path + " is not a column of texts");
  check(H5Sget_simple_extent_dims(space, &total, nullptr), path);
  if (total > 0 && H5Dget_storage_size(data) == 0) throw Failure(path + " lacks its rows");
  constexpr hsize_t at_once = 4096;
  std::vector<std::string> all;
  std::vector<char*> block;
  for (hsize_t begin = 0; begin < total; begin += at_once) {
    const hsize_t count = std::min(at_once, total - begin);
    block.assign(count, nullptr);
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, path);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, nullptr, &count, nullptr), path);
    check(H5Dread(data, type, memory, space, H5P_DEFAULT, block.data()), path);
    for (char* text : block) {
      all.emplace_back(text == nullptr ? "" : text);
      H5free_memory(text);
    }
  }
  return all;
}

}  // namespace sluice
