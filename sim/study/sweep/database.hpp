// A connection to SQLite and its prepared statements. No other code of Sluice uses SQLite. If SQLite refuses a call,
// these classes throw an exception whose message names the file: InputError if the file is not a database of SQLite,
// and IoError otherwise.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

class Statement;

class Connection {
 public:
  /// Opens a file. If the file does not exist and `may_make` is true, the file is made. A write-protected file can be
  /// read. Throws IoError.
  Connection(std::string path, bool may_make);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void execute(const char* sql);
  /// Switches the database to the mode WAL (write-ahead log). In this mode, readers and a writer do not wait for each
  /// other.
  void write_ahead();
  const std::string& path() const { return path_; }
  /// If `code` is an error, throws InputError or IoError with SQLite's reason.
  void require(int code) const;
  sqlite3* handle() const { return handle_; }

 private:
  void open(const std::string& name, int flags);

  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// A prepared statement, which is used in three steps: bind, step, read. Parameters are numbered from 1, and columns
/// from 0.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int place, std::string_view text);
  void bind_blob(int place, std::string_view bytes);
  void bind(int place, double number);  ///< NaN is stored as NULL
  void bind(int place, std::int64_t number);
  /// Moves to the next row. If there is no further row, returns false. After that, the statement can be bound again.
  bool step();
  /// Runs a statement that returns no rows. Afterwards, the statement can be bound again.
  void run();
  void reset();

  std::string text(int column) const;  ///< the text or bytes of a column
  double number(int column) const;     ///< NULL is read as NaN
  std::int64_t integer(int column) const;

 private:
  const Connection& connection_;
  sqlite3_stmt* handle_ = nullptr;
};

}  // namespace sluice
