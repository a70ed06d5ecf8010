// The store of a sweep or a search is an SQLite file. Each evaluated point has a row, even if it failed. If a sweep is
// stopped, it can later continue with the answers in its store. When commit() returns, all points that put() has taken
// before are on the disk. FORMAT.md in this folder describes the tables.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/sweep/point_result.hpp"

namespace sluice {

/// The changes of a point, each as a key and a value.
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

  /// Opens the file. Several processes may have the file open, and each process waits for the transactions of the other
  /// processes. If `mode` is `write` and the file does not exist, the file is made. If `mode` is `read`, the file is
  /// not changed and may be write-protected, and only find(), for_each() and size() may be called. Throws IoError if
  /// the file cannot be opened. Throws InputError if the file is not a store of this version.
  explicit Store(const std::string& path, Mode mode = Mode::write);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Returns the outcome of the point with this key, or nullopt if the store does not have the point. Throws IoError.
  std::optional<PointResult> find(const std::string& key);
  /// Adds or replaces a point. It is on the disk after the next commit(). Throws IoError.
  void put(const StoredPoint& point);
  /// Records that SimGrid has confirmed the stored result of this point.
  void set_verified(const std::string& key);
  void commit();
  /// Closes the file. After that, no other function may be called. Points that were put after the last commit() are
  /// lost.
  void close();
  /// Calls `each` for each point. The points are sorted by the text StoredPoint::key.
  void for_each(const std::function<void(const StoredPoint&)>& each);
  std::size_t size();

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

/// Copies from the store at the path `from` the points that `into` lacks. If a point failed in `into`, and `from` has
/// an answer for it, the answer replaces the failure. Returns the number of copied points.
std::size_t merge(Store& into, const std::string& from);

}  // namespace sluice
