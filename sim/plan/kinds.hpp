// The kinds of actions. Each kind has a record, in a table in kinds.cpp. To add a kind, add a value to the enumeration,
// and a record at the same position of the table.
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
  /// The letter of the kind in the names of actions, which are `<stage><letter><micro-batch>`. It has one character or
  /// more: I for `backward_input`, and LOAD for `load`.
  std::string_view letter;
  std::string_view summary;
  /// The colour of the kind in pictures, written as "#rrggbb". Most colours are from the palette of Okabe and Ito.
  std::string_view colour;
  /// Whether actions of this kind are transfers. A transfer moves bytes over a route, and does not have `seconds`.
  bool transfers = false;
  bool trains = false;  ///< whether actions of this kind exist only in training
  /// Whether actions of this kind add to the gradients of their stage's weights.
  bool adds_gradients = false;
  /// Whether actions of this kind are parts of a collective operation, which several devices do together.
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
/// Returns the kind with this letter. Returns nothing if no kind has this letter.
std::optional<ActionKind> kind_with_letter(std::string_view letter);

}  // namespace sluice
