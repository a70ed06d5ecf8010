// Writes the part of protocol buffers' wire format that traces need. Only sim/trace/export uses this code. The format
// is described at protobuf.dev, "Encoding".
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

class ProtoWriter {
 public:
  /// Takes the string to which the messages are appended.
  explicit ProtoWriter(std::string& out) : out_(out) {}

  /// Writes a uint64, int64, int32, enum or bool. A negative number takes ten bytes.
  void integer(int field, std::uint64_t value) {
    tag(field, 0);
    varint(out_.size(), value);
  }
  void fixed64(int field, std::uint64_t value) {
    tag(field, 1);
    for (int shift = 0; shift < 64; shift += 8) out_ += static_cast<char>(value >> shift & 0xFF);
  }
  void real(int field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
  void text(int field, std::string_view value) {
    tag(field, 2);
    varint(out_.size(), value.size());
    out_ += value;
  }
  /// Writes an inner message as a field of the current message. `fill` writes the fields of the inner message.
  template <class Fill>
  void message(int field, Fill&& fill) {
    tag(field, 2);
    const std::size_t begin = out_.size();
    fill();
    varint(begin, out_.size() - begin);
  }

 private:
  void tag(int field, unsigned wire_type) {
    varint(out_.size(), static_cast<std::uint64_t>(field) << 3 | wire_type);
  }
  void varint(std::size_t at, std::uint64_t value) {
    char bytes[10];
    std::size_t count = 0;
    for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<char>(value | 0x80);
    bytes[count++] = static_cast<char>(value);
    out_.insert(at, bytes, count);
  }

  std::string& out_;
};

}  // namespace sluice
