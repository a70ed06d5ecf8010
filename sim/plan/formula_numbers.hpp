// Finds the numbers of actions by names such as `3F0`: stage, letter of the kind, micro-batch. The micro-batches of
// one stage and kind mostly have numbers without gaps. So a table is faster than a hash map. The reader of plans and
// the check of a plan's structure use this class.
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

  /// Enters a name with its number, which must not be `unknown`. Returns false if the name exists already.
  bool add(const FormulaName& name, std::uint32_t number) {
    if (find(name) != unknown) return false;
    if (std::uint32_t* const place = made_place(name))
      *place = number;
    else
      others_.emplace(name, number);
    return true;
  }
  /// Returns the number of a name, or `unknown`.
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
  /// The numbers of the actions of one kind and stage, indexed by the place of the micro-batch (place_of).
  struct Row {
    std::vector<std::uint32_t> numbers;
    std::size_t count = 0;  ///< the number of elements that hold an action's number
  };
  static constexpr std::size_t kind_count = static_cast<std::size_t>(ActionKind::update) + 1;
  /// The table grows to a new place if place <= 2 x (number of used places) + gap.
  static constexpr std::size_t gap = 64;

  /// Returns the place of a stage or micro-batch number. The number -1 means that there is none. It has the place 0.
  static std::size_t place_of(std::int32_t number) {
    return static_cast<std::size_t>(std::int64_t{number} + 1);
  }
  /// Returns the place of a name in the table, which grows if necessary. For very large numbers, most of the table
  /// would be empty. Returns null for them.
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
