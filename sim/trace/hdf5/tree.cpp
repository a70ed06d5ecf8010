#include "trace/hdf5/tree.hpp"

#include <hdf5_hl.h>

#include <array>
#include <cstdio>

#include "base/sha256.hpp"

namespace sluice {

using hdf5::check;
using hdf5::Handle;

namespace {

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

/// Sets the property that a group lists its members in the order in which the members were created.
void keep_order(hid_t creation) {
  check(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "creation order");
}

bool in_provenance(const std::string& path) {
  return path.rfind("/provenance", 0) == 0;
}

}  // namespace

Tree::Tree(const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file access");
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "file creation");
  check(H5Pset_file_locking(access, false, true), "file locking");
  keep_order(creation);
  file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose, "create");
  string_type_ = hdf5::string_type();
  scalar_ = Handle(H5Screate(H5S_SCALAR), H5Sclose, "scalar");
}

void Tree::group(const std::string& path) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "group creation");
  keep_order(creation);
  const Handle made(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose,
                    "create group " + path);
}

void Tree::put_attribute(const std::string& path, const std::string& name, hid_t type, hid_t space,
                         const void* value) {
  const std::string what = "attribute " + name + " of " + path;
  const Handle object(H5Oopen(file_, path.c_str(), H5P_DEFAULT), H5Oclose, what);
  if (check(H5Aexists(object, name.c_str()), what) > 0)
    check(H5Adelete(object, name.c_str()), what);
  const Handle made(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose, what);
  check(H5Awrite(made, type, value), what);
}

void Tree::record_attribute(const std::string& path, const std::string& name,
                            const std::string& type, std::string_view bytes) {
  if (in_provenance(path)) return;
  lines_["attribute\t" + path + "\t" + name] = type + "\t" + sha256_of(bytes);
}

void Tree::attribute(const std::string& path, const std::string& name, const std::string& value) {
  const char* text = value.c_str();
  put_attribute(path, name, string_type_, scalar_, &text);
  if (name != "content_sha256") record_attribute(path, name, "str", value);
}

void Tree::first_attribute(hid_t object, const std::string& path, const std::string& name,
                           const std::string& value) {
  const std::string what = "attribute " + name + " of " + path;
  const Handle made(
      H5Acreate2(object, name.c_str(), string_type_, scalar_, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      what);
  const char* text = value.c_str();
  check(H5Awrite(made, string_type_, &text), what);
  record_attribute(path, name, "str", value);
}

void Tree::attribute(const std::string& path, const std::string& name,
                     const std::vector<std::int32_t>& value) {
  const hsize_t size = value.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
  put_attribute(path, name, H5T_STD_I32LE, space, value.data());
  record_attribute(path, name, "<i4", bytes_of(value.data(), value.size()));
}

void Tree::attribute(const std::string& path, const std::string& name, double value) {
  put_attribute(path, name, H5T_IEEE_F64LE, scalar_, &value);
  record_attribute(path, name, "<f8", bytes_of(&value, 1));
}

Handle Tree::create(const std::string& path, hid_t type, hid_t space) {
  return Handle(H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                H5Dclose, "create dataset " + path);
}

void Tree::text(const std::string& path, const std::string& value) {
  const Handle made = create(path, string_type_, scalar_);
  const char* text = value.c_str();
  check(H5Dwrite(made, string_type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text), "write " + path);
  record(path, "str", "", sha256_of(value));
}

void Tree::number(const std::string& path, double value, const std::string& unit,
                  const std::string& long_name) {
  const Handle made = create(path, H5T_IEEE_F64LE, scalar_);
  check(H5Dwrite(made, H5T_IEEE_F64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "write " + path);
  record(path, "<f8", "", sha256_of(bytes_of(&value, 1)));
  if (!unit.empty()) first_attribute(made, path, "units", unit);
  if (!long_name.empty()) first_attribute(made, path, "long_name", long_name);
}

Tree::Texts::Texts(Tree& tree, const std::string& path, std::size_t rows,
                   const std::string& long_name)
    : tree_(tree), path_(path), rows_(rows) {
  const hsize_t size = rows;
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
  dataset_ = tree.create(path, tree.string_type_, space);
  tree.first_attribute(dataset_, path, "long_name", long_name);
}

void Tree::Texts::append(const std::vector<const char*>& values) {
  if (values.empty()) return;
  const std::string what = "write " + path_;
  const hsize_t offset = written_, count = values.size();
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, what);
  const Handle file(H5Dget_space(dataset_), H5Sclose, what);
  check(H5Sselect_hyperslab(file, H5S_SELECT_SET, &offset, nullptr, &count, nullptr), what);
  check(H5Dwrite(dataset_, tree_.string_type_, memory, file, H5P_DEFAULT, values.data()), what);
  written_ += values.size();
  std::string bytes;
  for (const char* value : values) bytes.append(value).push_back('\0');
  hash_.update(bytes);
}

void Tree::Texts::finish() {
  tree_.record(path_, "str", std::to_string(rows_), hash_.hex());
  check(dataset_.close(), "close " + path_);
}

void Tree::dimension(const std::string& group, const std::string& name, std::uint64_t rows,
                     const std::vector<std::string>& columns) {
  const hsize_t size = rows;
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
  {
    const Handle made = create(group + "/" + name, H5T_STD_U8LE, space);
    std::array<char, 80> label{};
    std::snprintf(label.data(), label.size(),
                  "This is a netCDF dimension but not a netCDF variable.%10llu",
                  static_cast<unsigned long long>(rows));
    check(H5DSset_scale(made, label.data()), "dimension scale " + name);
  }
  scale(group, name, columns);
}

void Tree::scale(const std::string& group, const std::string& name,
                 const std::vector<std::string>& columns, unsigned along) {
  const std::string path = group + "/" + name;
  const Handle made(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, "open " + path);
  if (check(H5DSis_scale(made), "dimension scale " + name) == 0)
    check(H5DSset_scale(made, name.c_str()), "dimension scale " + name);
  for (const std::string& column : columns) {
    const std::string column_path = hdf5::below(group, column);
    const Handle dataset(H5Dopen2(file_, column_path.c_str(), H5P_DEFAULT), H5Dclose,
                         "open " + column_path);
    check(H5DSattach_scale(dataset, made, along), "attach the scale of " + column_path);
  }
}

void Tree::record(const std::string& path, const std::string& type, const std::string& shape,
                  const std::string& sha256) {
  if (!in_provenance(path)) lines_["dataset\t" + path] = type + "\t" + shape + "\t" + sha256;
}

std::string Tree::content_sha256() const {
  Sha256 hash;
  for (const auto& [object, content] : lines_) {
    hash.update(object);
    hash.update("\t");
    hash.update(content);
    hash.update("\n");
  }
  return hash.hex();
}

void Tree::flush() {
  check(H5Fflush(file_, H5F_SCOPE_LOCAL), "flush");
}

void Tree::close() {
  flush();
  check(file_.close(), "close");
}

void Tree::abandon() {
  file_.release();
}

}  // namespace sluice
