// Reads the lines of a plan's text that describe actions. Only text_read.cpp uses this header. A plan may have millions
// of actions, so reading must be fast.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/formula_numbers.hpp"
#include "plan/line_keys.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// The names of pools, links, routes, streams, tensors and collectives, with their numbers. In a plan's text, the lines
/// before the sections declare these names.
struct NameTables {
  int version = 0;  ///< the version of the format; 0 while it is not known
  Names pools, links, routes, streams, tensors, collectives;

  /// Adds the name in `word` to `names` and returns it. Throws InputError if `names` has this name already.
  std::string declare(const PlanLine& line, Names& names, const Word& word, const char* what);
  /// Returns the name in `word`. A name without quotes is a view of the plan's text. A name in quotes is a view of a
  /// copy, which this object holds.
  std::string_view kept(const PlanLine& line, const Word& word);

 private:
  std::deque<std::string> unquoted_;
};

/// Returns the kind of action with the name `word`. Throws InputError if no kind has this name.
ActionKind kind_of(const PlanLine& line, const Word& word);

/// The names of one section's actions, with the numbers of the actions. The texts of the names must live longer than
/// this object.
class ActionNames {
 public:
  static constexpr std::uint32_t unknown = Names::unknown;

  /// Adds the name of an action. If the name is made of stage, letter and micro-batch, such as 3F0, `formula`
  /// has this stage, kind and micro-batch. Returns false if the section already has an action with this name.
  bool add(std::string_view name, const std::optional<FormulaName>& formula, std::uint32_t action) {
    above_ = std::exchange(latest_, {name, action});
    if (formula) return formulas_.add(*formula, action);
    if (!others_.add(name)) return false;
    of_others_.push_back(action);
    return true;
  }
  /// Returns the number of the action with this name, or `unknown`. First looks at the action of the line above,
  /// because an action often waits for the action above it.
  std::uint32_t find(std::string_view name) const {
    if (above_.action != unknown && same_name(above_.name, name)) return above_.action;
    if (const std::optional<FormulaName> formula = formula_of(name))
      return formulas_.find(*formula);
    const std::uint32_t other = others_.find(name);
    return other == unknown ? unknown : of_others_[other];
  }

 private:
  struct Line {
    std::string_view name;
    std::uint32_t action = unknown;
  };
  FormulaNumbers formulas_;
  Names others_;
  /// The numbers of the actions whose names are in `others_`, in the same order.
  std::vector<std::uint32_t> of_others_;
  Line latest_, above_;
};

/// Looks up names. First tries the names that were looked up last, because the same few names occur again and again.
class RecentName {
 public:
  std::uint32_t look_up(const PlanLine& line, const Names& names, const Word& word,
                        const char* what) {
    for (std::uint32_t& number : recent_)
      if (number < names.all().size() && same_name(names.all()[number], word.text)) return number;
    const std::uint32_t number = sluice::look_up(line, names, word, what);
    recent_[++calls_ % recent_.size()] = number;
    return number;
  }

 private:
  std::array<std::uint32_t, 4> recent_ = {Names::unknown, Names::unknown, Names::unknown,
                                          Names::unknown};
  std::size_t calls_ = 0;
};

class ActionReader {
 public:
  /// The reader adds to `plan` all actions that it reads.
  ActionReader(Plan& plan, NameTables& tables) : plan_(plan), tables_(tables) {}

  void read(const PlanLine& line, const std::vector<Word>& words, Section section);
  /// Reads a line fast, if the line has the form that LineKeys::take() knows. Before the action is added, calls
  /// `begins`. If the line has another form, the function changes nothing and returns false. Then read() must read the
  /// line word by word.
  template <class Begins>
  bool read_usual(const PlanLine& line, Section section, Begins&& begins) {
    LineKeys keys(line, allowed());
    Word name;
    if (!keys.take(name, order_)) return false;
    begins();
    read(line, name, keys, section);
    return true;
  }
  /// Completes those waits whose awaited action comes later in the text than the action that waits. `text` is the whole
  /// file. This function must be called after all sections have been read.
  void resolve_waits(std::string_view text, const std::string& file);

 private:
  /// A wait for an action that had not been read when the wait was read.
  struct Pending {
    std::uint32_t action, place;  ///< `place` is the index of the wait among the action's waits
    std::uint32_t column, size;   ///< the position of the awaited name in the action's line
    std::size_t section;
  };
  const KeyList& allowed() const;
  void read(const PlanLine& line, const Word& name, const LineKeys& keys, Section section);
  void read_name(const PlanLine& line, const LineKeys& keys, const Word& word, Action& action);
  void read_work(const PlanLine& line, const LineKeys& keys, Action& action);
  void read_moves(const PlanLine& line, const LineKeys& keys, Action& action);
  void read_lists(const PlanLine& line, const LineKeys& keys, Action& action);
  void read_wait(const PlanLine& line, Word word, Action& action);
  template <class Number>
  static Number take_distance(const PlanLine& line, Word& word);
  std::size_t take_section(const PlanLine& line, Word& word) const;
  [[noreturn]] void fail_unknown(const PlanLine& line, std::size_t section, const Word& word) const;
  Flow read_flow(const PlanLine& line, const Word& word) const;
  Access read_access(const PlanLine& line, const Word& word) const;
  Placement read_placement(const PlanLine& line, const Word& word,
                           std::uint16_t* distance = nullptr) const;

  Plan& plan_;
  NameTables& tables_;
  std::array<ActionNames, 3> names_;  ///< indexed by section
  /// The number of each section's first action, indexed by section.
  std::array<std::uint32_t, 3> first_ = {none, none, none};
  std::size_t section_ = 0;
  KeyOrder order_;
  RecentName streams_, tensors_, routes_;
  std::vector<Pending> pending_;
};

}  // namespace sluice
