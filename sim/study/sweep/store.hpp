// The store of a study is an SQLite file with a row for each point that has an answer. With it, a sweep that was
// stopped can continue. A transaction is on the disk when commit() returns. FORMAT.md in this folder describes the
// tables.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/sweep/point_result.hpp"

namespace sluice {

/// The changes at a point: key and value.
using Changes = std::vector<std::pair<std::string, std::string>>;

struct StoredPoint {
  std::string key;       ///< point_key()
  std::string scenario;  ///< the name of the scenario
  Changes changes;
  PointResult outcome;
};

class Store {
 public:
  enum class Mode { write, read };

  /// Opens the file; with the mode `write` it makes a file that does not exist. Several processes
  /// may have it open; each waits for the other's transactions. With the mode `read` nothing of the
  /// file changes, which may be write-protected, and only find(), for_each() and size() may be
  /// called. Throws IoError when the file cannot be opened, and InputError when it is not a store, or
  /// is a store of another version.
  explicit Store(const std::string& path, Mode mode = Mode::write);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The outcome of a point; none: the store does not have it. Throws IoError.
  std::optional<PointResult> find(const std::string& key);
  /// Adds or replaces a point. It is on the disk after commit(). Throws IoError.
  void put(const StoredPoint& point);
  /// Records that SimGrid gave the same result.
  void set_verified(const std::string& key);
  void commit();
  /// Closes the file, after which no other function may be called. What commit() has not written is lost.
  void close();
  /// Calls the function for all points, in the order of their keys.
  void for_each(const std::function<void(const StoredPoint&)>& each);
  std::size_t size();

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

/// Copies into `into` those points of the store at `from` that it lacks. An answer replaces a failed point. Returns the
/// number of copied points.
std::size_t merge(Store& into, const std::string& from);

}  // namespace sluice
