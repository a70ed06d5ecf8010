// The store of a sweep or a search is an SQLite file. Each point with an answer has a row. A sweep that was stopped can
// continue with the answers in its store. A transaction is on the disk when commit() returns. FORMAT.md in this folder
// describes the tables.
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

  /// Opens the file. With the mode `write`, a file that does not exist is made. Several processes may have the file
  /// open, and each process waits for the transactions of the other processes. With the mode `read`, the file is not
  /// changed. It may be write-protected. Only find(), for_each() and size() may then be called. Throws IoError if the
  /// file cannot be opened. Throws InputError if the file is not a store of this version.
  explicit Store(const std::string& path, Mode mode = Mode::write);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Returns the outcome of a point, or nullopt if the store does not have the point. Throws IoError.
  std::optional<PointResult> find(const std::string& key);
  /// Adds or replaces a point. The point is on the disk after commit(). Throws IoError.
  void put(const StoredPoint& point);
  /// Records that SimGrid has confirmed the stored result of this point.
  void set_verified(const std::string& key);
  void commit();
  /// Closes the file. Afterwards, no other function may be called. Answers that commit() has not written are lost.
  void close();
  /// Calls the function for all points, in the order of their keys.
  void for_each(const std::function<void(const StoredPoint&)>& each);
  std::size_t size();

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

/// Copies from the store at `from` the points that `into` lacks. An answer replaces a failed point. Returns the number
/// of copied points.
std::size_t merge(Store& into, const std::string& from);

}  // namespace sluice
