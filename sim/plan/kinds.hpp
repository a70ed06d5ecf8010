// The kinds of actions are a table of records. A new kind is a value of the enumeration, and a record at the same
// position in kinds.cpp.
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
  std::string_view name;  ///< the name in files, such as backward_input
  /// The letter in names of actions, `<stage><letter><micro-batch>`. For example, backward_input has the letter I.
  std::string_view letter;
  std::string_view summary;
  /// The colour in pictures, "#rrggbb", from the palette of Okabe and Ito.
  std::string_view colour;
  /// Whether actions of this kind are transfers: they move bytes over a route and have no seconds.
  bool transfers = false;
  bool trains = false;  ///< whether actions of this kind exist only in training
  /// Whether actions of this kind add to the gradients of their stage's weights.
  bool adds_gradients = false;
  /// Whether actions of this kind are parts of a collective operation of several devices.
  bool is_collective = false;
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
