#include "study/sweep/store.hpp"

#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "study/sweep/database.hpp"

namespace sluice {

namespace {

constexpr std::int64_t application = 0x536C7569;  // "Slui", the value of PRAGMA application_id
constexpr std::int64_t version = 1;               // the value of PRAGMA user_version

constexpr const char* tables = R"(
CREATE TABLE layouts (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE points (
  key TEXT PRIMARY KEY NOT NULL, scenario TEXT NOT NULL, changes TEXT NOT NULL,
  status TEXT NOT NULL, message TEXT NOT NULL, reason TEXT NOT NULL, shortage TEXT NOT NULL,
  executor TEXT NOT NULL, verified INTEGER NOT NULL, chosen TEXT NOT NULL, bound_by TEXT NOT NULL,
  layout INTEGER REFERENCES layouts (id), numbers BLOB) WITHOUT ROWID;
PRAGMA application_id = 1399616873;
PRAGMA user_version = 1;
)";
static_assert(application == 1399616873 && version == 1);

constexpr const char* columns =
    "key, scenario, changes, status, message, reason, shortage, executor, verified, chosen, bound_by, layout, numbers";

/// A failure never replaces an answer, only another failure. So if one process stores an answer of a point and another
/// process dies while it evaluates the same point, the answer stays.
constexpr const char* replacing =
    "ON CONFLICT (key) DO UPDATE SET scenario = excluded.scenario, changes = excluded.changes, "
    "status = excluded.status, message = excluded.message, reason = excluded.reason, "
    "shortage = excluded.shortage, executor = excluded.executor, "
    "verified = max(excluded.verified, verified AND numbers IS excluded.numbers), chosen = excluded.chosen, "
    "bound_by = excluded.bound_by, layout = excluded.layout, numbers = excluded.numbers "
    "WHERE points.status = 'failed' OR excluded.status <> 'failed'";

std::string text_of(const Changes& changes) {
  Value map = Value::make_map();
  for (const auto& [key, value] : changes) map.set(key, Value::make(value));
  return to_json(map, 0);
}

Changes changes_of(const std::string& text, const std::string& file) {
  Changes changes;
  const Value map = parse_text(text, file + ".json");
  for (const Value::Entry& entry : map.entries())
    changes.emplace_back(entry.key, entry.value.text());
  return changes;
}

}  // namespace

class Store::Database {
 public:
  Database(const std::string& path, Mode mode) : connection_(path, mode == Mode::write) {
    if (mode == Mode::write) {
      connection_.execute("PRAGMA synchronous = FULL");
      make_tables();
      connection_.write_ahead();  // changes the file, so make_tables() has checked the file before
    } else {
      require_tables();
    }
    find_.emplace(connection_, std::string("SELECT ") + columns + " FROM points WHERE key = ?");
    if (mode == Mode::read) return;
    put_.emplace(connection_, std::string("INSERT INTO points (") + columns +
                                  ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) " + replacing);
    verified_.emplace(connection_, "UPDATE points SET verified = 1 WHERE key = ?");
  }

  std::optional<PointResult> find(const std::string& key) {
    find_->bind(1, key);
    // The destructor resets the statement, even after an error. So the next point can be looked up.
    struct Reset {
      Statement& statement;
      ~Reset() { statement.reset(); }
    } reset{*find_};
    if (!find_->step()) return std::nullopt;
    return std::move(read(*find_).outcome);
  }

  void put(const StoredPoint& point) {
    begin();
    const PointResult& outcome = point.outcome;
    put_->bind(1, point.key);
    put_->bind(2, point.scenario);
    put_->bind(3, text_of(point.changes));
    put_->bind(4, name_of(outcome.status));
    put_->bind(5, outcome.message);
    put_->bind(6, outcome.reason);
    put_->bind(7, outcome.shortage);
    put_->bind(8, outcome.executor);
    put_->bind(9, std::int64_t{outcome.verified});
    put_->bind(10, outcome.chosen);
    put_->bind(11, outcome.bound_by);
    if (outcome.names) {
      put_->bind(12, layout_of(*outcome.names));
      put_->bind_blob(13, packed_numbers(outcome.numbers));
    }
    put_->run();
  }

  void set_verified(const std::string& key) {
    begin();
    verified_->bind(1, key);
    verified_->run();
  }

  void begin() {
    if (!open_) connection_.execute("BEGIN IMMEDIATE");
    open_ = true;
  }

  void commit() {
    if (!open_) return;
    connection_.execute("COMMIT");
    open_ = false;
  }

  void for_each(const std::function<void(const StoredPoint&)>& each) {
    Statement all(connection_, std::string("SELECT ") + columns + " FROM points ORDER BY key");
    while (all.step()) each(read(all));
  }

  std::size_t size() {
    Statement count(connection_, "SELECT COUNT(*) FROM points");
    count.step();
    return static_cast<std::size_t>(count.integer(0));
  }

 private:
  std::int64_t pragma(const char* name) {
    Statement statement(connection_, std::string("PRAGMA ") + name);
    statement.step();
    return statement.integer(0);
  }

  bool is_empty() {
    Statement count(connection_, "SELECT COUNT(*) FROM sqlite_schema");
    count.step();
    return count.integer(0) == 0;
  }

  /// Makes the tables if the file is empty. The transaction ensures that only one process makes them, even if several
  /// processes find the empty file at the same time.
  void make_tables() {
    connection_.execute("BEGIN IMMEDIATE");
    open_ = true;
    if (is_empty()) connection_.execute(tables);
    require_tables();
    commit();
  }

  void require_tables() {
    if (is_empty())
      throw InputError("'" + connection_.path() +
                       "' is not a store of sweeps: the file is empty; a sweep that ended early "
                       "may have left it");
    if (pragma("application_id") != application)
      throw InputError("'" + connection_.path() +
                       "' is a database of another program, not a store of sweeps");
    if (const std::int64_t found = pragma("user_version"); found != version)
      throw InputError("the store '" + connection_.path() + "' has version " +
                       std::to_string(found) + "; this program reads and writes version " +
                       std::to_string(version) + ". Give the sweep another file");
  }

  std::int64_t layout_of(const NumberNames& names) {
    for (const auto& [id, known] : layouts_)
      if (*known == names) return id;
    const std::string text = packed_names(names);
    Statement insert(connection_, "INSERT OR IGNORE INTO layouts (names) VALUES (?)");
    insert.bind(1, text);
    insert.run();
    Statement select(connection_, "SELECT id FROM layouts WHERE names = ?");
    select.bind(1, text);
    select.step();
    const std::int64_t id = select.integer(0);
    layouts_[id] = shared_names(names);
    return id;
  }

  std::shared_ptr<const NumberNames> names_at(std::int64_t id) {
    if (const auto known = layouts_.find(id); known != layouts_.end()) return known->second;
    Statement select(connection_, "SELECT names FROM layouts WHERE id = ?");
    select.bind(1, id);
    if (!select.step())
      throw InputError("the table 'layouts' has no row with the id " + std::to_string(id));
    const auto names = unpacked_names(select.text(0), connection_.path());
    layouts_[id] = names;
    return names;
  }

  /// Returns the point in the row. Throws InputError if the row is damaged: if it has values that no sweep writes.
  StoredPoint read(const Statement& row) {
    try {
      return unchecked(row);
    } catch (const InputError& error) {
      throw InputError("the store '" + connection_.path() + "' is damaged at the point " +
                       row.text(0) + ": " + error.what() + "; sweep again with another store");
    }
  }

  StoredPoint unchecked(const Statement& row) {
    StoredPoint point{row.text(0), row.text(1), changes_of(row.text(2), connection_.path()), {}};
    PointResult& outcome = point.outcome;
    outcome.status = status_named(row.text(3));
    outcome.message = row.text(4);
    outcome.reason = row.text(5);
    outcome.shortage = row.text(6);
    outcome.executor = row.text(7);
    outcome.verified = row.integer(8) != 0;
    outcome.chosen = row.text(9);
    outcome.bound_by = row.text(10);
    if (outcome.status == PointResult::Status::complete) {
      outcome.names = names_at(row.integer(11));
      outcome.numbers = unpacked_numbers(row.text(12));
      if (outcome.numbers.size() != outcome.names->size())
        throw InputError("the point has " + std::to_string(outcome.numbers.size()) +
                         " numbers for " + std::to_string(outcome.names->size()) + " names");
    }
    return point;
  }

  /// Because of this member, a signal cannot end the process before the database is closed and its log file is removed.
  InOrder in_order_;
  Connection connection_;
  bool open_ = false;
  std::optional<Statement> find_, put_, verified_;
  std::map<std::int64_t, std::shared_ptr<const NumberNames>> layouts_;
};

Store::Store(const std::string& path, Mode mode) {
  if (mode == Mode::read && !std::filesystem::exists(path))
    throw IoError("there is no store '" + path + "'");
  database_ = std::make_unique<Database>(path, mode);
}

Store::~Store() = default;

std::optional<PointResult> Store::find(const std::string& key) {
  return database_->find(key);
}

void Store::put(const StoredPoint& point) {
  database_->put(point);
}

void Store::set_verified(const std::string& key) {
  database_->set_verified(key);
}

void Store::commit() {
  database_->commit();
}

void Store::close() {
  database_.reset();
}

void Store::for_each(const std::function<void(const StoredPoint&)>& each) {
  database_->for_each(each);
}

std::size_t Store::size() {
  return database_->size();
}

std::size_t merge(Store& into, const std::string& from) {
  std::size_t taken = 0;
  Store(from, Store::Mode::read).for_each([&](const StoredPoint& point) {
    const std::optional<PointResult> there = into.find(point.key);
    if (there && (there->status != PointResult::Status::failed ||
                  point.outcome.status == PointResult::Status::failed)) {
      if (point.outcome.verified && !there->verified) into.set_verified(point.key);
      return;
    }
    into.put(point);
    ++taken;
  });
  into.commit();
  return taken;
}

}  // namespace sluice
