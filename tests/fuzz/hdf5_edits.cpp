#include "fuzz/hdf5_edits.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "trace/hdf5/hdf5.hpp"

namespace sluice::test {
namespace {

using hdf5::check;
using hdf5::Handle;

/// The largest number of rows that an edit may give a column.
constexpr std::size_t most_rows = 64;

/// Reads and applies one line of the edits.
class Edit {
 public:
  Edit(hid_t file, const std::vector<std::string>& objects, const std::string& line)
      : file_(file), words_(line) {
    words_ >> letter_;
    std::string which;
    words_ >> which;
    const bool is_number = which.empty() || (which.front() >= '0' && which.front() <= '9');
    const std::size_t number = std::strtoull(which.c_str(), nullptr, 10);
    object_ = is_number ? objects[number % objects.size()] : which;
  }

  void apply() {
    switch (letter_) {
      case 'd':
        if (object_ != ".") check(H5Ldelete(file_, object_.c_str(), H5P_DEFAULT), "remove");
        return;
      case 's':
        return set_row();
      case 'r':
        return replace(type_of(), numbers());
      case 'y': {
        const hid_t types[] = {H5T_IEEE_F64LE, H5T_STD_I64LE, H5T_STD_I32LE,
                               H5T_STD_U32LE,  H5T_STD_U8LE,  H5T_IEEE_F32LE};
        const hid_t type = types[chosen(std::size(types))];
        return replace(Handle(H5Tcopy(type), H5Tclose, "type"), numbers());
      }
      case 't':
        return replace_by_words();
      case 'a':
        return text_attribute();
      case 'i':
        return integer_attribute();
      default:
        return;
    }
  }

 private:
  /// Returns the next number of the line, modulo `count`.
  std::size_t chosen(std::size_t count) {
    std::uint64_t number = 0;
    words_ >> number;
    return static_cast<std::size_t>(number % std::max<std::size_t>(count, 1));
  }

  std::vector<double> numbers() {
    std::vector<double> all;
    for (std::string word; all.size() < most_rows && words_ >> word;)
      all.push_back(std::strtod(word.c_str(), nullptr));
    return all;
  }

  Handle dataset() const {
    return {H5Dopen(file_, object_.c_str(), H5P_DEFAULT), H5Dclose, "dataset"};
  }
  Handle type_of() const { return {H5Dget_type(dataset()), H5Tclose, "type"}; }

  void set_row() {
    const Handle data = dataset();
    const Handle space(H5Dget_space(data), H5Sclose, "space");
    const auto rows = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
    if (rows == 0) return;
    const int dimensions = H5Sget_simple_extent_ndims(space);
    const hsize_t row = chosen(rows);
    const std::vector<double> number = numbers();
    if (number.empty() || dimensions > 1) return;
    if (dimensions == 1) check(H5Sselect_elements(space, H5S_SELECT_SET, 1, &row), "select");
    const Handle one(H5Screate(H5S_SCALAR), H5Sclose, "space");
    check(H5Dwrite(data, H5T_NATIVE_DOUBLE, one, space, H5P_DEFAULT, number.data()), "write");
  }

  Handle fresh(hid_t type, std::size_t rows) {
    check(H5Ldelete(file_, object_.c_str(), H5P_DEFAULT), "remove");
    const hsize_t size = rows;
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
    return {H5Dcreate(file_, object_.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Dclose, "dataset"};
  }

  void replace(const Handle& type, const std::vector<double>& column) {
    const bool is_text = H5Tget_class(type) == H5T_STRING;
    const Handle data = fresh(is_text ? H5T_IEEE_F64LE : static_cast<hid_t>(type), column.size());
    check(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.data()), "write");
  }

  void replace_by_words() {
    std::vector<std::string> column;
    for (std::string word; column.size() < most_rows && words_ >> word;) column.push_back(word);
    std::vector<const char*> pointers;
    for (const std::string& word : column) pointers.push_back(word.c_str());
    const Handle type = hdf5::string_type();
    const Handle data = fresh(type, column.size());
    check(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "write");
  }

  Handle object() const { return {H5Oopen(file_, object_.c_str(), H5P_DEFAULT), H5Oclose, "open"}; }

  /// Replaces attribute number `number` of the object by a new attribute, and returns the new
  /// attribute.
  Handle attribute(const Handle& object, hid_t type, hid_t space, std::size_t number) {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
      static_cast<std::vector<std::string>*>(list)->emplace_back(name);
      return 0;
    };
    check(H5Aiterate(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), "attributes");
    const std::string name = names.empty() ? "units" : names[number % names.size()];
    if (!names.empty()) check(H5Adelete(object, name.c_str()), "remove");
    return {H5Acreate(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
            "attribute"};
  }

  void text_attribute() {
    const std::size_t number = chosen(64);
    std::string text;
    std::getline(words_ >> std::ws, text);
    const Handle type = hdf5::string_type(), space(H5Screate(H5S_SCALAR), H5Sclose, "space"),
                 where = object();
    const char* const pointer = text.c_str();
    check(H5Awrite(attribute(where, type, space, number), type, &pointer), "write");
  }

  void integer_attribute() {
    const std::size_t number = chosen(64);
    std::vector<std::int32_t> values;
    for (const double value : numbers())
      values.push_back(
          static_cast<std::int32_t>(std::clamp(value == value ? value : 0, -2e9, 2e9)));
    const hsize_t size = values.size();
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space"), where = object();
    check(H5Awrite(attribute(where, H5T_STD_I32LE, space, number), H5T_NATIVE_INT32, values.data()),
          "write");
  }

  hid_t file_;
  std::istringstream words_;
  char letter_ = 0;
  std::string object_;
};

}  // namespace

std::vector<std::string> hdf5_objects(const std::string& path) {
  const auto held = hdf5::lock();
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open");
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5O_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  check(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, add, &names), "visit");
  std::sort(names.begin(), names.end());
  return names;
}

void edit_hdf5(const std::string& path, const std::vector<std::string>& objects,
               const std::string& edits) {
  const auto held = hdf5::lock();
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "open");
  std::istringstream lines(edits);
  std::string line;
  for (int count = 0; count < 30 && std::getline(lines, line); ++count) {
    try {
      Edit(file, objects, line).apply();
    } catch (const hdf5::Failure&) {  // HDF5 refuses this edit
    }
  }
}

}  // namespace sluice::test
