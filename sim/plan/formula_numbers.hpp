// Finds the numbers of actions by their names, for names such as `3F0`. Such a name consists of the stage, the letter
// of the kind, and the micro-batch. The micro-batches of one stage and kind are mostly numbered without gaps, so a
// table is faster than a hash map. This class is used when a plan is read, and when its structure is checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

class FormulaNumbers {
 public:
  static constexpr std::uint32_t unknown = 0xFFFFFFFF;

  /// Adds a name with the number of its action. The number must not be `unknown`. Returns false if the name exists
  /// already.
  bool add(const FormulaName& name, std::uint32_t number) {
    if (find(name) != unknown) return false;
    if (std::uint32_t* const place = made_place(name))
      *place = number;
    else
      others_.emplace(name, number);
    return true;
  }
  /// Returns the number of the action with this name, or `unknown` if there is no such action.
  std::uint32_t find(const FormulaName& name) const {
    const std::vector<Row>& rows = rows_[static_cast<std::size_t>(name.kind)];
    const std::size_t stage = place_of(name.stage), micro_batch = place_of(name.micro_batch);
    if (stage < rows.size() && micro_batch < rows[stage].numbers.size() &&
        rows[stage].numbers[micro_batch] != unknown)
      return rows[stage].numbers[micro_batch];
    if (others_.empty()) return unknown;
    const auto found = others_.find(name);
    return found == others_.end() ? unknown : found->second;
  }

 private:
  /// The numbers of the actions of one kind and stage. The index is place_of() of the micro-batch.
  struct Row {
    std::vector<std::uint32_t> numbers;
    std::size_t count = 0;  ///< the number of elements that hold an action's number
  };
  static constexpr std::size_t kind_count = static_cast<std::size_t>(ActionKind::update) + 1;
  /// A row of the table grows for a new micro-batch only if the place of the micro-batch is at most
  /// 2 x (the number of used places of the row) + `gap`. The table gets rows for a new stage only if the place of the
  /// stage is at most 2 x (the number of used places in the whole table) + `gap`.
  static constexpr std::size_t gap = 64;

  /// Returns the place of a stage or a micro-batch in the table. The number -1 means that a name has no stage or no
  /// micro-batch. The place of -1 is 0.
  static std::size_t place_of(std::int32_t number) {
    return static_cast<std::size_t>(std::int64_t{number} + 1);
  }
  /// Returns the place of a name in the table, and enlarges the table if necessary. Returns null for a name with very
  /// large numbers, because most of the enlarged table would be empty.
  std::uint32_t* made_place(const FormulaName& name) {
    std::vector<Row>& rows = rows_[static_cast<std::size_t>(name.kind)];
    const std::size_t stage = place_of(name.stage), micro_batch = place_of(name.micro_batch);
    if (stage >= rows.size()) {
      if (stage > 2 * count_ + gap) return nullptr;
      rows.resize(stage + 1);
    }
    Row& row = rows[stage];
    if (micro_batch >= row.numbers.size()) {
      if (micro_batch > 2 * row.count + gap) return nullptr;
      row.numbers.resize(micro_batch + 1, unknown);
    }
    ++row.count;
    ++count_;
    return &row.numbers[micro_batch];
  }

  std::array<std::vector<Row>, kind_count> rows_;  ///< indexed by kind and stage
  std::size_t count_ = 0;                          ///< the number of names in the table
  std::unordered_map<FormulaName, std::uint32_t, FormulaName::Hash> others_;
};

}  // namespace sluice
