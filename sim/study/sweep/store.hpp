// The store of a study: one SQLite file with a row for each point that has an answer, so that a
// sweep that was stopped goes on where it was. Written in transactions that are on the disk when
// commit() returns; FORMAT.md beside this file describes the tables.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/sweep/point_result.hpp"

namespace sluice {

/// What was changed at a point: key and value.
using Changes = std::vector<std::pair<std::string, std::string>>;

struct StoredPoint {
  std::string key;       ///< point_key()
  std::string scenario;  ///< its name
  Changes changes;
  PointResult outcome;
};

class Store {
 public:
  enum class Mode { create, existing };

  /// Opens the file, or makes it. Several processes may have it open; each waits for the other's
  /// transactions. Throws IoError: it cannot be opened, or `existing` and not there. Throws
  /// InputError: it is something else, or a store of another version.
  explicit Store(const std::string& path, Mode mode = Mode::create);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The outcome of a point; none: it is not here. Throws IoError.
  std::optional<PointResult> find(const std::string& key);
  /// Adds a point, or replaces one. It is on the disk after commit(). Throws IoError.
  void put(const StoredPoint& point);
  /// Notes that SimGrid came to the same.
  void set_verified(const std::string& key);
  void commit();
  /// All points, in the order of their keys.
  void for_each(const std::function<void(const StoredPoint&)>& each);
  std::size_t size();

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

/// Copies into `into` what the store at `from` has and `into` lacks; an answer takes the place of a
/// point that failed. The number of points that were taken over.
std::size_t merge(Store& into, const std::string& from);

}  // namespace sluice
