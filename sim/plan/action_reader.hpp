// Reads the lines of actions in a plan's text. Only the reader of plans (text_read.cpp) uses this. There may be
// millions of such lines.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "plan/line_keys.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// The numbers of the names that are declared before the sections.
struct NameTables {
  int version = 0;  ///< the version of the format; 0: not known yet
  Names pools, links, routes, streams, tensors, collectives;

  /// Enters a name and returns it. Throws InputError for a name that is declared twice.
  std::string declare(const PlanLine& line, Names& names, const Word& word, const char* what);
  /// Returns the name as a view that lives as long as this object. An unquoted name is a view of the text itself.
  std::string_view kept(const PlanLine& line, const Word& word);

 private:
  std::deque<std::string> unquoted_;
};

/// Returns the kind of action that a word of the text names.
ActionKind kind_of(const PlanLine& line, const Word& word);

class ActionReader {
 public:
  /// The reader adds the actions to `plan`.
  ActionReader(Plan& plan, NameTables& tables) : plan_(plan), tables_(tables) {}

  void read(const PlanLine& line, const std::vector<Word>& words, Section section);
  /// Resolves the waits for actions that are listed later in the text. `text` is the whole file. All sections must have
  /// been read.
  void resolve_waits(std::string_view text, const std::string& file);

 private:
  /// A wait for an action that has not been read yet.
  struct Pending {
    std::uint32_t action, place;  ///< `place` is the position of the wait among the action's waits
    std::uint32_t column, size;   ///< where the awaited name is in the action's line
    std::size_t section;
  };
  void read_name(const PlanLine& line, const LineKeys& keys, const Word& word, Action& action);
  void read_work(const PlanLine& line, const LineKeys& keys, Action& action);
  void read_moves(const PlanLine& line, const LineKeys& keys, Action& action);
  void read_lists(const PlanLine& line, const LineKeys& keys, Action& action);
  void read_wait(const PlanLine& line, Word word, Action& action);
  static std::uint32_t take_distance(const PlanLine& line, Word& word);
  std::size_t take_section(const PlanLine& line, Word& word) const;
  std::uint32_t known_number(std::size_t section, const Word& name) const;
  Flow read_flow(const PlanLine& line, const Word& word) const;
  Access read_access(const PlanLine& line, const Word& word) const;
  Placement read_placement(const PlanLine& line, const Word& word) const;

  Plan& plan_;
  NameTables& tables_;
  /// the names of the actions of each section; numbers count from the section's first action
  std::array<Names, 3> names_;
  std::array<std::uint32_t, 3> first_ = {none, none, none};  ///< first action, indexed by section
  std::size_t section_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace sluice
