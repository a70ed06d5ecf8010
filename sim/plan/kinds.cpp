#include "plan/kinds.hpp"

#include <array>

namespace sluice {

namespace {

constexpr std::string_view blue = "#0072B2", orange = "#E69F00", green = "#009E73", red = "#D55E00",
                           sky = "#56B4E9", purple = "#CC79A7", yellow = "#F0E442",
                           black = "#000000", grey = "#999999", brown = "#8B5A2B",
                           violet = "#6A51A3";

using Kind = ActionKind;
constexpr std::array kinds = {
    KindRecord{.kind = Kind::forward,
               .name = "forward",
               .letter = "F",
               .summary = "Computes the forward pass of a stage.",
               .colour = blue},
    KindRecord{
        .kind = Kind::backward,
        .name = "backward",
        .letter = "B",
        .summary = "Computes the backward pass of a stage: the gradients of inputs and weights.",
        .colour = red,
        .trains = true,
        .adds_gradients = true},
    KindRecord{
        .kind = Kind::backward_input,
        .name = "backward_input",
        .letter = "I",
        .summary = "Computes the part of the backward pass that gives the gradient of the input.",
        .colour = red,
        .trains = true},
    KindRecord{
        .kind = Kind::backward_weight,
        .name = "backward_weight",
        .letter = "W",
        .summary = "Computes the part of the backward pass that gives the gradient of the weights.",
        .colour = purple,
        .trains = true,
        .adds_gradients = true},
    KindRecord{
        .kind = Kind::recompute,
        .name = "recompute",
        .letter = "R",
        .summary = "Computes the forward pass again, to make the activations that were not kept.",
        .colour = yellow},
    KindRecord{.kind = Kind::load,
               .name = "load",
               .letter = "LOAD",
               .summary = "Transfers data from a memory outside of the devices to a device.",
               .colour = orange,
               .transfers = true},
    KindRecord{.kind = Kind::save,
               .name = "save",
               .letter = "SAVE",
               .summary = "Transfers data from a device to a memory outside of the devices.",
               .colour = green,
               .transfers = true},
    KindRecord{.kind = Kind::send,
               .name = "send",
               .letter = "SEND",
               .summary = "Transfers data from one device to another device. Actions that need "
                          "the data wait for the send.",
               .colour = sky,
               .transfers = true},
    KindRecord{.kind = Kind::move,
               .name = "move",
               .letter = "MOVE",
               .summary = "Transfers data between two memories of one device.",
               .colour = grey,
               .transfers = true},
    KindRecord{
        .kind = Kind::all_reduce,
        .name = "all_reduce",
        .letter = "ALL_REDUCE",
        .summary = "Executes a part of an all-reduce: all devices get the sum over the devices.",
        .colour = brown,
        .transfers = true,
        .is_collective = true},
    KindRecord{
        .kind = Kind::all_gather,
        .name = "all_gather",
        .letter = "ALL_GATHER",
        .summary = "Executes a part of an all-gather: each device gets the pieces of all devices.",
        .colour = violet,
        .transfers = true,
        .is_collective = true},
    KindRecord{
        .kind = Kind::reduce_scatter,
        .name = "reduce_scatter",
        .letter = "REDUCE_SCATTER",
        .summary =
            "Executes a part of a reduce-scatter: each device gets a piece of the sum over the devices.",
        .colour = brown,
        .transfers = true,
        .is_collective = true},
    KindRecord{
        .kind = Kind::all_to_all,
        .name = "all_to_all",
        .letter = "ALL_TO_ALL",
        .summary =
            "Executes a part of an all-to-all: each device sends a piece to every other device.",
        .colour = violet,
        .transfers = true,
        .is_collective = true},
    KindRecord{.kind = Kind::update,
               .name = "update",
               .letter = "UPDATE",
               .summary = "Updates the weights of a stage with the optimizer.",
               .colour = black,
               .trains = true},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (static_cast<std::size_t>(kinds[i].kind) != i) return false;
  return kinds.size() == static_cast<std::size_t>(Kind::update) + 1;
}
static_assert(in_order(), "the records are in the order of the enumeration");

constexpr std::uint8_t no_kind = kinds.size();

/// A `letter` may have several characters, such as LOAD. Kinds whose `letter` begins with the same character form a
/// chain. For each kind, this table has the next kind of its chain. For the last kind of a chain, the table has
/// `no_kind`.
constexpr std::array<std::uint8_t, kinds.size()> next_with = [] {
  std::array<std::uint8_t, kinds.size()> table{};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::size_t next = i + 1;
    while (next < kinds.size() && kinds[next].letter.front() != kinds[i].letter.front()) ++next;
    table[i] = static_cast<std::uint8_t>(next);
  }
  return table;
}();

/// For each character, this table has the first kind whose `letter` begins with this character. If no `letter`
/// begins with the character, the table has `no_kind`.
constexpr std::array<std::uint8_t, 256> first_with = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_kind);
  for (std::size_t i = kinds.size(); i-- > 0;)
    table[static_cast<unsigned char>(kinds[i].letter.front())] = static_cast<std::uint8_t>(i);
  return table;
}();

}  // namespace

std::span<const KindRecord> action_kinds() {
  return kinds;
}

const KindRecord& record_of(ActionKind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

std::optional<ActionKind> kind_with_letter(std::string_view letter) {
  if (letter.empty()) return {};
  for (std::size_t i = first_with[static_cast<unsigned char>(letter.front())]; i != no_kind;
       i = next_with[i]) {
    const std::string_view known = kinds[i].letter;
    if (known.size() != letter.size()) continue;
    // This loop compares two values of `letter`, such as F or LOAD. They have few characters, so the loop is faster than
    // a call of the C library.
    std::size_t same = 0;
    while (same < known.size() && known[same] == letter[same]) ++same;
    if (same == known.size()) return kinds[i].kind;
  }
  return {};
}

}  // namespace sluice
