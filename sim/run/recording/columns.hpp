// A recording is a string of bytes that holds columns. This file gives each column its place in these bytes, and writes
// and reads the columns. Only run/recording uses this code. The file recording.hpp describes the format.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace sluice {

struct Recording;

inline constexpr std::string_view recording_magic = "SLUICE01";
inline constexpr std::size_t recording_head = recording_magic.size() + sizeof(std::uint64_t);

struct ColumnPlace {
  std::string name, type;  ///< "text", or the name of a NumPy type, such as "<f8"
  std::size_t rows = 0, offset = 0, bytes = 0;
};

/// Returns the text of one row. If the row is a struct, the text is its member `member`. Otherwise the row itself is
/// the text.
template <class Row>
const std::string& text_of(const Row& row, std::string Row::*member) {
  return row.*member;
}
inline const std::string& text_of(const std::string& row, std::nullptr_t) {
  return row;
}
template <class Row>
void set_text(Row& row, std::string Row::*member, std::string text) {
  row.*member = std::move(text);
}
inline void set_text(std::string& row, std::nullptr_t, std::string text) {
  row = std::move(text);
}

template <class T>
const char* numpy_type() {
  if constexpr (std::is_floating_point_v<T>) return "<f8";
  if constexpr (sizeof(T) == 1) return "|u1";
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? "<i4" : "<u4";
  return std::is_signed_v<T> ? "<i8" : "<u8";
}

/// Gives each column its place in the bytes of the recording.
class ColumnLayout {
 public:
  static std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

  template <class Row, class T>
  void numbers(const std::string& name, const std::vector<Row>& rows, T Row::*) {
    place(name, numpy_type<T>(), rows.size(), rows.size() * sizeof(T));
  }
  void values(const std::string& name, const std::vector<double>& rows) {
    place(name, "<f8", rows.size(), rows.size() * sizeof(double));
  }
  template <class Row, class Member>
  void texts(const std::string& name, const std::vector<Row>& rows, Member member) {
    std::size_t bytes = 0;
    for (const Row& row : rows) bytes += text_of(row, member).size() + 1;
    place(name, "text", rows.size(), bytes);
  }

  void text(const std::string& name, const std::string& text) {
    place(name, "text", 1, text.size() + 1);
  }

  std::size_t size() const { return size_; }
  const std::vector<ColumnPlace>& places() const { return places_; }

 private:
  void place(const std::string& name, const char* type, std::size_t rows, std::size_t bytes) {
    places_.push_back({name, type, rows, size_, bytes});
    size_ = aligned(size_ + bytes);
  }
  std::vector<ColumnPlace> places_;
  std::size_t size_ = 0;
};

/// Writes the columns in the order in which ColumnLayout placed them.
class ColumnWriter {
 public:
  explicit ColumnWriter(char* begin) : begin_(begin), at_(begin) {}

  template <class Row, class T>
  void numbers(const std::string&, const std::vector<Row>& rows, T Row::*member) {
    auto* out = reinterpret_cast<T*>(at_);
    for (const Row& row : rows) *out++ = row.*member;
    advance(rows.size() * sizeof(T));
  }
  void values(const std::string&, const std::vector<double>& rows) {
    if (!rows.empty()) std::memcpy(at_, rows.data(), rows.size() * sizeof(double));
    advance(rows.size() * sizeof(double));
  }
  template <class Row, class Member>
  void texts(const std::string&, const std::vector<Row>& rows, Member member) {
    char* out = at_;
    for (const Row& row : rows) {
      const std::string& text = text_of(row, member);
      std::memcpy(out, text.c_str(), text.size() + 1);
      out += text.size() + 1;
    }
    advance(static_cast<std::size_t>(out - at_));
  }
  void text(const std::string&, const std::string& text) {
    std::memcpy(at_, text.c_str(), text.size() + 1);
    advance(text.size() + 1);
  }

 private:
  void advance(std::size_t bytes) {
    at_ = begin_ + ColumnLayout::aligned(static_cast<std::size_t>(at_ - begin_) + bytes);
  }
  char* begin_;
  char* at_;
};

/// Reads the columns in the order in which `places` lists them. Throws InternalError if the recording is damaged.
class ColumnReader {
 public:
  ColumnReader(std::string_view data, const std::vector<ColumnPlace>& places)
      : data_(data), places_(places) {}

  template <class Row, class T>
  void numbers(const std::string& name, std::vector<Row>& rows, T Row::*member) {
    const auto [count, bytes] = next(name, numpy_type<T>(), sizeof(T));
    rows.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(&(rows[i].*member), bytes.data() + i * sizeof(T), sizeof(T));
  }
  void values(const std::string& name, std::vector<double>& rows) {
    const auto [count, bytes] = next(name, "<f8", sizeof(double));
    rows.resize(count);
    if (count > 0) std::memcpy(rows.data(), bytes.data(), count * sizeof(double));
  }
  template <class Row, class Member>
  void texts(const std::string& name, std::vector<Row>& rows, Member member) {
    auto [count, bytes] = next(name, "text", 0);
    rows.resize(count);
    for (Row& row : rows) {
      const std::size_t end = bytes.find('\0');
      if (end == std::string_view::npos) throw InternalError("a recording is cut short");
      set_text(row, member, std::string(bytes.substr(0, end)));
      bytes.remove_prefix(end + 1);
    }
  }
  void text(const std::string& name, std::string& text) {
    const std::string_view bytes = next(name, "text", 0).bytes;
    text = bytes.substr(0, bytes.size() - 1);
  }

 private:
  struct Bytes {
    std::size_t count;
    std::string_view bytes;
  };
  Bytes next(const std::string& name, std::string_view type, std::size_t size) {
    if (next_ == places_.size()) throw InternalError("a recording has no column " + name);
    const ColumnPlace& place = places_[next_++];
    if (place.name != name || place.type != type || place.offset > data_.size() ||
        place.bytes > data_.size() - place.offset ||
        (size > 0 ? place.bytes / size != place.rows : place.bytes < place.rows))
      throw InternalError("column " + name + " of a recording is damaged");
    return {place.rows, data_.substr(place.offset, place.bytes)};
  }
  std::string_view data_;
  const std::vector<ColumnPlace>& places_;
  std::size_t next_ = 0;
};

/// Finds the JSON text in a recording's bytes. Throws InternalError if the bytes are not a recording.
std::string_view json_text_in(std::string_view bytes);
/// recording_json returns the JSON text of a recording. read_recording_json reads such a text, and fills in all parts
/// of `recording` except its columns. It returns the places of the columns.
std::string recording_json(const Recording& recording, const ColumnLayout& layout);
std::vector<ColumnPlace> read_recording_json(std::string_view text, Recording& recording);

}  // namespace sluice
