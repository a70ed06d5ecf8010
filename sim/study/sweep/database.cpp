#include "study/sweep/database.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <new>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace sluice {

namespace {

constexpr int most_wait_ms = 60'000;  ///< the longest wait for the transaction of another process

/// Returns a name under which SQLite opens the file as unchanging: as a file that no process changes. SQLite then makes
/// no other files beside it.
std::string unchanging(const std::string& path) {
  std::string name = "file:";
  for (const char c : path) {
    constexpr const char* digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '?' || c == '#' || c == '%')
      name += {'%', digits[byte / 16], digits[byte % 16]};
    else
      name += c;
  }
  return name + "?immutable=1";
}

/// Returns true if the database has a log file that is not empty. Such a log may have transactions that are missing in
/// the database file.
bool has_log(const std::string& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path + "-wal", absent);
  return !absent && size > 0;
}

}  // namespace

Connection::Connection(std::string path, bool may_make) : path_(std::move(path)) {
  open(path_, SQLITE_OPEN_READWRITE | (may_make ? SQLITE_OPEN_CREATE : 0));
  if (!may_make && ::sqlite3_db_readonly(handle_, "main") == 1 && !has_log(path_)) {
    ::sqlite3_close(handle_);
    open(unchanging(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
  ::sqlite3_busy_timeout(handle_, most_wait_ms);
}

void Connection::open(const std::string& name, int flags) {
  const int code = ::sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string reason = handle_ ? ::sqlite3_errmsg(handle_) : "out of memory";
    ::sqlite3_close(handle_);
    throw IoError("cannot open the store '" + path_ + "': " + reason);
  }
}

Connection::~Connection() {
  ::sqlite3_close(handle_);
}

void Connection::require(int code) const {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  if (code == SQLITE_NOMEM && memory_is_low()) throw std::bad_alloc();
  const std::string reason = ::sqlite3_errmsg(handle_);
  if (code == SQLITE_NOTADB)
    throw InputError("'" + path_ + "' is not a store of sweeps: " + reason);
  throw IoError("cannot use the store '" + path_ + "': " + reason +
                "; the store still has all answers that were committed before this error");
}

// If another process switches the file to the mode WAL at the same time, SQLite does not wait, but refuses at once. So
// this function tries again and again.
void Connection::write_ahead() {
  constexpr int pause_ms = 20;
  for (int waited_ms = 0;; waited_ms += pause_ms) {
    const int code =
        ::sqlite3_exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code != SQLITE_BUSY || waited_ms >= most_wait_ms) return require(code);
    ::sqlite3_sleep(pause_ms);
  }
}

void Connection::execute(const char* sql) {
  require(::sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
}

Statement::Statement(const Connection& connection, std::string_view sql) : connection_(connection) {
  connection.require(::sqlite3_prepare_v2(connection.handle(), sql.data(),
                                          static_cast<int>(sql.size()), &handle_, nullptr));
}

Statement::~Statement() {
  ::sqlite3_finalize(handle_);
}

void Statement::bind(int place, std::string_view text) {
  connection_.require(::sqlite3_bind_text64(handle_, place, text.data(), text.size(),
                                            SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_blob(int place, std::string_view bytes) {
  connection_.require(
      ::sqlite3_bind_blob64(handle_, place, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

void Statement::bind(int place, double number) {
  connection_.require(std::isnan(number) ? ::sqlite3_bind_null(handle_, place)
                                         : ::sqlite3_bind_double(handle_, place, number));
}

void Statement::bind(int place, std::int64_t number) {
  connection_.require(::sqlite3_bind_int64(handle_, place, number));
}

bool Statement::step() {
  const int code = ::sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  connection_.require(code);
  reset();
  return false;
}

void Statement::run() {
  try {
    while (step()) {
    }
  } catch (...) {
    reset();
    throw;
  }
}

void Statement::reset() {
  ::sqlite3_reset(handle_);
  ::sqlite3_clear_bindings(handle_);
}

std::string Statement::text(int column) const {
  const void* const bytes = ::sqlite3_column_blob(handle_, column);
  const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(handle_, column));
  return bytes ? std::string(static_cast<const char*>(bytes), size) : std::string();
}

double Statement::number(int column) const {
  if (::sqlite3_column_type(handle_, column) == SQLITE_NULL)
    return std::numeric_limits<double>::quiet_NaN();
  return ::sqlite3_column_double(handle_, column);
}

std::int64_t Statement::integer(int column) const {
  return ::sqlite3_column_int64(handle_, column);
}

}  // namespace sluice
