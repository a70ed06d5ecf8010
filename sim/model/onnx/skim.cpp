#include "model/onnx/skim.hpp"

#include <cstdint>

#include "base/error.hpp"

namespace sluice::onnx_import {
namespace {

enum class Kind { model, graph, node, attribute, tensor, sparse_tensor, function, other };
enum class Fate { copy, descend, drop, drop_if_large };

struct Rule {
  Fate fate = Fate::copy;
  /// The kind of the message that the field contains. It matters only for `Fate::descend`.
  Kind kind = Kind::other;
};

/// Returns what to do with a field of a message. `kind` is the kind of the message, and `number` is the number of the
/// field.
Rule rule_of(Kind kind, std::uint64_t number) {
  switch (kind) {
    case Kind::model:
      if (number == 7) return {Fate::descend, Kind::graph};
      if (number == 25) return {Fate::descend, Kind::function};
      if (number == 20) return {Fate::drop};  // training_info
      return {};
    case Kind::graph:
      if (number == 1) return {Fate::descend, Kind::node};
      if (number == 5) return {Fate::descend, Kind::tensor};
      if (number == 15) return {Fate::descend, Kind::sparse_tensor};
      return {};
    case Kind::function:
      return number == 7 ? Rule{Fate::descend, Kind::node} : Rule{};
    case Kind::node:
      return number == 5 ? Rule{Fate::descend, Kind::attribute} : Rule{};
    case Kind::attribute:
      if (number == 5 || number == 10) return {Fate::descend, Kind::tensor};
      if (number == 6 || number == 11) return {Fate::descend, Kind::graph};
      if (number == 22 || number == 23) return {Fate::descend, Kind::sparse_tensor};
      return {};
    case Kind::sparse_tensor:
      return number <= 2 ? Rule{Fate::descend, Kind::tensor} : Rule{};
    case Kind::tensor:
      if (number == 13) return {Fate::drop};  // external_data
      // These fields hold the elements of a tensor: float_data to int64_data, raw_data, double_data and uint64_data.
      if ((number >= 4 && number <= 7) || (number >= 9 && number <= 11))
        return {Fate::drop_if_large};
      return {};
    case Kind::other:
      return {};
  }
  return {};
}

class Skimmer {
 public:
  explicit Skimmer(std::string_view all) : all_(all) {}

  void message(std::string_view bytes, Kind kind, int depth, std::string& out) {
    if (depth > deepest)
      throw InputError("the nesting of graphs in graphs is deeper than " + std::to_string(deepest) +
                       " messages");
    while (!bytes.empty()) field(bytes, kind, depth, out);
  }

 private:
  void field(std::string_view& bytes, Kind kind, int depth, std::string& out) {
    const std::string_view begin = bytes;
    const std::uint64_t tag = varint(bytes);
    const std::uint64_t number = tag >> 3;
    if (number == 0) refuse(begin, "a field has the number 0");
    std::string_view content;
    switch (tag & 7) {
      case 0:
        varint(bytes);
        break;
      case 1:
        take(bytes, 8);
        break;
      case 5:
        take(bytes, 4);
        break;
      case 2:
        content = take(bytes, varint(bytes));
        break;
      default:
        refuse(begin, "a field has the unknown wire type " + std::to_string(tag & 7));
    }
    const Rule rule = rule_of(kind, number);
    if (rule.fate == Fate::drop) return;
    if ((tag & 7) == 2 && rule.fate == Fate::drop_if_large && content.size() > most_data) return;
    if ((tag & 7) != 2 || rule.fate != Fate::descend) {
      out.append(begin.data(), begin.size() - bytes.size());
      return;
    }
    std::string inner;
    message(content, rule.kind, depth + 1, inner);
    put_varint(tag, out);
    put_varint(inner.size(), out);
    out += inner;
  }

  std::uint64_t varint(std::string_view& bytes) const {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes.empty()) refuse(bytes, "the file ends in the middle of a field");
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse(bytes, "a number has more than 64 bits");
  }

  std::string_view take(std::string_view& bytes, std::uint64_t size) const {
    if (size > bytes.size())
      refuse(bytes, "a field should have " + std::to_string(size) + " bytes, but only " +
                        std::to_string(bytes.size()) + " are left");
    const std::string_view taken = bytes.substr(0, static_cast<std::size_t>(size));
    bytes.remove_prefix(taken.size());
    return taken;
  }

  static void put_varint(std::uint64_t value, std::string& out) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
    out += static_cast<char>(value);
  }

  [[noreturn]] void refuse(std::string_view rest, const std::string& what) const {
    throw InputError("this is not a complete ONNX file: at byte " +
                     std::to_string(rest.data() - all_.data()) + ", " + what +
                     "; copy the file again, or export the model again");
  }

  std::string_view all_;
};

}  // namespace

std::string without_data(std::string_view bytes) {
  std::string out;
  Skimmer(bytes).message(bytes, Kind::model, 0, out);
  return out;
}

}  // namespace sluice::onnx_import
