// An HDF5 file that is being written. Groups, attributes, single values and columns are named by their paths. The
// object keeps the SHA-256 of each dataset and attribute, and computes the content hash from them. Only sim/trace and
// sim/profile use this code. The caller holds hdf5::lock(). Throws hdf5::Failure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.hpp"
#include "trace/hdf5/hdf5.hpp"

namespace sluice {

class Tree {
 public:
  /// Creates the file, or empties it. The caller must have locked the file.
  explicit Tree(const std::string& path);

  hid_t file() const { return file_; }
  void group(const std::string& path);

  /// Writes an attribute of the object at `path`. An attribute that exists is replaced.
  void attribute(const std::string& path, const std::string& name, const std::string& value);
  void attribute(const std::string& path, const std::string& name, const char* value) {
    attribute(path, name, std::string(value));
  }
  void attribute(const std::string& path, const std::string& name,
                 const std::vector<std::int32_t>& value);
  void attribute(const std::string& path, const std::string& name, double value);
  /// Writes an attribute of an object that does not have this attribute yet. Unlike
  /// attribute(), this function does not look for an old attribute to replace.
  void first_attribute(hid_t object, const std::string& path, const std::string& name,
                       const std::string& value);

  /// The next two functions write scalar datasets.
  void text(const std::string& path, const std::string& value);
  void number(const std::string& path, double value, const std::string& unit,
              const std::string& long_name);
  /// A column of texts. Its rows are written one after the other, from the first row on. The texts have variable
  /// length, because netCDF's library crashes on texts of fixed length.
  class Texts {
   public:
    Texts(Tree& tree, const std::string& path, std::size_t rows, const std::string& long_name);
    void append(const std::vector<const char*>& values);
    void finish();

   private:
    Tree& tree_;
    std::string path_;
    std::size_t rows_, written_ = 0;
    hdf5::Handle dataset_;
    Sha256 hash_;
  };

  /// Adds a dimension to the group, as netCDF-4 does. The dimension is a dataset of `rows` rows
  /// without values, which takes no space. This dataset becomes the dimension scale of `columns`.
  void dimension(const std::string& group, const std::string& name, std::uint64_t rows,
                 const std::vector<std::string>& columns);
  /// The column `scale` of the group becomes the dimension scale of `columns`. `along` is the index of the columns'
  /// dimension that gets this scale: 0 is the first dimension.
  void scale(const std::string& group, const std::string& scale,
             const std::vector<std::string>& columns, unsigned along = 0);

  /// content_sha256() hashes a text. This function adds a line about a dataset to that text. `type` is NumPy's name of
  /// the type. `shape` is the text ROWS of FORMAT.md, which is "" for a scalar.
  void record(const std::string& path, const std::string& type, const std::string& shape,
              const std::string& sha256);
  std::string content_sha256() const;

  void flush();
  void close();  ///< writes all data, then closes the file; throws Failure with the disk's error
  /// Keeps the file open for ever. Call this function after a failed write: after such a write, HDF5 would crash if it
  /// closed the file.
  void abandon();

 private:
  void put_attribute(const std::string& path, const std::string& name, hid_t type, hid_t space,
                     const void* value);
  void record_attribute(const std::string& path, const std::string& name, const std::string& type,
                        std::string_view bytes);
  hdf5::Handle create(const std::string& path, hid_t type, hid_t space);

  hdf5::Handle file_;
  hdf5::Handle string_type_, scalar_;
  /// The lines of the text that content_sha256() hashes. The key is the beginning of a line: the kind and the path of
  /// the object, and the name of an attribute.
  std::map<std::string, std::string> lines_;
};

}  // namespace sluice
