// The kinds of actions are a table of records. To add a kind, add a value to the enumeration and a
// record at the same position in kinds.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sluice {

enum class ActionKind : std::uint8_t {
  forward,
  backward,
  backward_input,
  backward_weight,
  recompute,
  load,
  save,
  send,
  move,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  update
};

struct KindRecord {
  ActionKind kind;
  std::string_view name;    ///< the name in files: backward_input
  std::string_view letter;  ///< the letter in names of actions, `<stage><letter><micro-batch>`: I
  std::string_view summary;
  std::string_view colour;      ///< in pictures, "#rrggbb", from the palette of Okabe and Ito
  bool transfers = false;       ///< it moves bytes over a route and has no seconds of its own
  bool trains = false;          ///< belongs to training only
  bool adds_gradients = false;  ///< adds to the gradients of its stage's weights
  bool is_collective = false;   ///< it is a part of a collective operation of several devices
};

/// All records, in the order of the enumeration.
std::span<const KindRecord> action_kinds();
const KindRecord& record_of(ActionKind kind);
inline std::string_view letter_of(ActionKind kind) {
  return record_of(kind).letter;
}
inline std::string_view name_of(ActionKind kind) {
  return record_of(kind).name;
}
/// Returns the kind whose actions have this letter in their names.
std::optional<ActionKind> kind_with_letter(std::string_view letter);

}  // namespace sluice
