// An HDF5 file under construction: groups, attributes, single values and columns by path, each
// remembered with the SHA-256 of its content, so that the content hash needs no second look at the
// file. Internal to sim/trace. The caller holds hdf5::lock(). Throws hdf5::Failure.
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
  /// Creates the file, or empties it. Locking is the caller's.
  explicit Tree(const std::string& path);

  hid_t file() const { return file_; }
  void group(const std::string& path);

  /// Attributes of the object at `path`; an existing one is replaced.
  void attribute(const std::string& path, const std::string& name, const std::string& value);
  void attribute(const std::string& path, const std::string& name, const char* value) {
    attribute(path, name, std::string(value));
  }
  void attribute(const std::string& path, const std::string& name,
                 const std::vector<std::int32_t>& value);
  void attribute(const std::string& path, const std::string& name, double value);
  /// Of an object that was just made: neither looked up nor replaced.
  void first_attribute(hid_t object, const std::string& path, const std::string& name,
                       const std::string& value);

  /// Scalar datasets.
  void text(const std::string& path, const std::string& value);
  void number(const std::string& path, double value, const std::string& unit,
              const std::string& long_name);
  /// A column of texts, written from its first row on. Of variable length: netCDF's library crashes
  /// on texts of fixed length.
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

  /// A dimension of the group without values of its own, in the way of netCDF-4: a scale of `rows`
  /// that takes no space. Attached to the columns named.
  void dimension(const std::string& group, const std::string& name, std::uint64_t rows,
                 const std::vector<std::string>& columns);
  /// Makes the column `scale` of the group the scale of its other columns, along their dimension
  /// `along`.
  void scale(const std::string& group, const std::string& scale,
             const std::vector<std::string>& columns, unsigned along = 0);

  /// A dataset's line in the content hash; `type` as NumPy writes it, `shape` "" for a scalar.
  void record(const std::string& path, const std::string& type, const std::string& shape,
              const std::string& sha256);
  std::string content_sha256() const;

  void flush();
  void close();    ///< everything to the disk; throws what the disk says
  void abandon();  ///< never closes: after a failed write HDF5 crashes when it tries

 private:
  void put_attribute(const std::string& path, const std::string& name, hid_t type, hid_t space,
                     const void* value);
  void record_attribute(const std::string& path, const std::string& name, const std::string& type,
                        std::string_view bytes);
  hdf5::Handle create(const std::string& path, hid_t type, hid_t space);

  hdf5::Handle file_;
  hdf5::Handle string_type_, scalar_;
  std::map<std::string, std::string> lines_;  ///< what is hashed, by object
};

}  // namespace sluice
