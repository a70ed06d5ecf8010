#include "study/check/golden_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "plan/text.hpp"
#include "study/check/baseline.hpp"
#include "study/check/plan_lines.hpp"

namespace sluice {

namespace {

bool is_whole(std::string_view text) {
  return text.find_first_of(".eE") == std::string_view::npos;
}

/// Returns true if two values count as equal. Two numbers with the same unit, such as "1.28e-3s" and
/// "1.280000000001e-3s", may differ by a small tolerance, unless both are whole. The texts of all other values must be
/// equal.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  char* a_end = nullptr;
  char* b_end = nullptr;
  const double x = std::strtod(a.c_str(), &a_end), y = std::strtod(b.c_str(), &b_end);
  if (a_end == a.c_str() || b_end == b.c_str() || std::string_view(a_end) != b_end) return false;
  const std::string_view x_text(a.data(), static_cast<std::size_t>(a_end - a.data()));
  const std::string_view y_text(b.data(), static_cast<std::size_t>(b_end - b.data()));
  if (is_whole(x_text) && is_whole(y_text)) return false;
  return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
}

/// A line of a plan's text, divided into two parts: its subject, and the keys and values behind the subject.
struct Statement {
  std::string about;                                      ///< "link host.down", "body 1F0"
  std::vector<std::pair<std::string, std::string>> says;  ///< key and value
};

/// Returns how many words at the start of a line are its subject (Statement::about). The line must be before the
/// prologue. `first` is the first word of the line.
std::size_t words_about(const std::string& first) {
  for (const char* alone :
       {"format:", "name", "iterations", "steps_per_iteration", "iterations_per_step", "tensors"})
    if (first == alone) return 1;
  return first == "on" ? 3 : 2;
}

class Statements {
 public:
  Statements(const std::string& text, const std::string& name) {
    for_lines(text, name, [&](const PlanLine& line) { take(line); });
  }

  const std::vector<Statement>& list() const { return list_; }
  const Statement* find(const std::string& about) const {
    const auto found = places_.find(about);
    return found == places_.end() ? nullptr : &list_[found->second];
  }

 private:
  void take(const PlanLine& line) {
    const std::vector<Word> words = line.words();
    if (words.empty()) return;
    const std::string first(words.front().text);
    if (begins_section(first)) {
      section_ = first.substr(0, first.size() - 1);
      return;
    }
    const std::size_t about = section_.empty() ? words_about(first) : 1;
    Statement statement{section_, {}};
    for (std::size_t w = 0; w < words.size(); ++w) {
      const std::string word(words[w].text);
      const std::size_t equals = PlanLine::find_bare(word, '=');
      if (w < about)
        statement.about += (statement.about.empty() ? "" : " ") + word;
      else if (equals == std::string::npos)
        statement.says.emplace_back("", word);
      else
        statement.says.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    add(std::move(statement));
  }

  void add(Statement statement) {
    const std::string about = statement.about;
    for (int n = 2; places_.count(statement.about) != 0; ++n)
      statement.about = about + " (" + std::to_string(n) + ")";
    places_[statement.about] = list_.size();
    list_.push_back(std::move(statement));
  }

  std::string section_;
  std::vector<Statement> list_;
  std::map<std::string, std::size_t> places_;
};

class Comparison {
 public:
  Comparison(const Statements& expected, const Statements& got) {
    for (const Statement& old : expected.list()) {
      if (const Statement* now = got.find(old.about))
        compare(old, *now);
      else
        add(old.about, "gone");
    }
    for (const Statement& now : got.list())
      if (!expected.find(now.about)) add(now.about, "new");
    compare_order(expected, got);
  }

  PlanDifference take() {
    PlanDifference difference;
    for (const Change& change : changes_) {
      const std::string others =
          change.count > 1 ? " and " + std::to_string(change.count - 1) + " more" : "";
      if (difference.lines.size() < most_lines)
        difference.lines.push_back(change.first + others + ": " + change.what);
      else
        difference.more += change.count;
    }
    return difference;
  }

 private:
  static constexpr std::size_t most_lines = 8, longest_value = 60;

  static std::string shortened(const std::string& value) {
    if (value.empty()) return "(nothing)";
    return value.size() <= longest_value ? value : value.substr(0, longest_value) + "...";
  }

  /// A change of a line. If the same change occurs in many lines, it is reported once, with their number.
  struct Change {
    std::string first, what;
    std::size_t count = 1;
  };
  void add(const std::string& about, const std::string& what) {
    const auto [place, is_new] = places_.try_emplace(what, changes_.size());
    if (is_new)
      changes_.push_back({about, what});
    else
      ++changes_[place->second].count;
  }

  static std::optional<std::string> value_of(const Statement& statement, const std::string& key,
                                             std::size_t place) {
    // Words without "=" have no key. So such a word is compared with the word at the same position of the other line.
    if (key.empty()) {
      if (place < statement.says.size() && statement.says[place].first.empty())
        return statement.says[place].second;
      return std::nullopt;
    }
    for (const auto& [other, value] : statement.says)
      if (other == key) return value;
    return std::nullopt;
  }

  void compare(const Statement& old, const Statement& now) {
    std::string changes;
    const auto note = [&](const std::string& key, const std::string& from, const std::string& to) {
      changes += (changes.empty() ? "" : ", ") + (key.empty() ? "" : key + " ") + shortened(from) +
                 " -> " + shortened(to);
    };
    for (std::size_t i = 0; i < old.says.size(); ++i) {
      const auto& [key, value] = old.says[i];
      const auto other = value_of(now, key, i);
      if (!other || !same_value(value, *other)) note(key, value, other.value_or(""));
    }
    for (std::size_t i = 0; i < now.says.size(); ++i)
      if (!value_of(old, now.says[i].first, i)) note(now.says[i].first, "", now.says[i].second);
    if (!changes.empty()) add(old.about, changes);
  }

  /// Takes the lines whose subject is in both texts, and compares their order.
  void compare_order(const Statements& expected, const Statements& got) {
    std::vector<const std::string*> before, after;
    for (const Statement& old : expected.list())
      if (got.find(old.about)) before.push_back(&old.about);
    for (const Statement& now : got.list())
      if (expected.find(now.about)) after.push_back(&now.about);
    std::size_t moved = 0, first = before.size();
    for (std::size_t i = 0; i < before.size(); ++i)
      if (*before[i] != *after[i] && ++moved == 1) first = i;
    if (moved > 0)
      add("order", std::to_string(moved) + " lines have moved; in place of " + *before[first] +
                       " there is " + *after[first]);
  }

  std::vector<Change> changes_;
  std::map<std::string, std::size_t> places_;  ///< indexes of changes, by their text
};

bool is_digest(const std::string& text) {
  return text.compare(0, digest_format.size(), digest_format) == 0;
}

}  // namespace

std::string golden_text(const Plan& plan) {
  std::string text = to_text(plan);
  return text.size() <= longest_kept_text ? text : digest_text(plan);
}

PlanDifference compare_plans(const std::string& expected, const std::string& expected_name,
                             const std::string& got) {
  const std::string got_name = "the plan";
  if (!is_digest(expected) && !looks_like_plan(expected))
    throw InputError(Position{expected_name, 1, 1, expected.substr(0, expected.find('\n'))},
                     "this is not a golden text of a plan; expected 'format: sluice-plan/2' or '" +
                         std::string(digest_format) + "'");
  // If one of the two texts is a digest, the digest of the other plan is computed, and the two digests are compared.
  if (is_digest(expected) && !is_digest(got))
    return compare_plans(expected, expected_name, digest_text(plan_from_text(got, got_name)));
  if (!is_digest(expected) && is_digest(got))
    return compare_plans(digest_text(plan_from_text(expected, expected_name)), expected_name, got);
  return Comparison(Statements(expected, expected_name), Statements(got, got_name)).take();
}

}  // namespace sluice
