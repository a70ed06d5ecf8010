// Reads words and names from random lines of a plan's text. The results must equal the results of slow functions, which
// follow the definitions of words and names step by step.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "plan/names.hpp"
#include "plan/unique_names.hpp"
#include "plan/words.hpp"
#include "support/campaign.hpp"

namespace sluice {
namespace {

std::string random_text(std::mt19937& random, std::string_view letters, std::size_t most) {
  std::string text;
  for (std::size_t i = random() % (most + 1); i > 0; --i)
    text += letters[random() % letters.size()];
  return text;
}

/// Returns the words of a line. Reads the line character by character, as FORMAT.md defines words.
std::vector<std::string> split_slowly(const std::string& line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!inside && (c == ' ' || c == '\t' || c == '\r')) {
      if (word) words.push_back(*word);
      word.reset();
      continue;
    }
    if (!word && c == '#') break;
    if (!word) word.emplace();
    *word += c;
    if (inside && c == '\\' && i + 1 < line.size())
      *word += line[++i];
    else if (c == '"')
      inside = !inside;
  }
  if (word) words.push_back(*word);
  return words;
}

TEST_CASE("words are split as a slow implementation splits them, character by character",
          "[plan][property]") {
  std::mt19937 random(3);
  const std::string file = "random.plan";
  for (int i = 0; i < test::cases_of(20'000); ++i) {
    const std::string text = random_text(random, "ab1.  \t\r\"\\,=@~:#", 40);
    const PlanLine line{&file, 1, text};
    const std::vector<Word> words = line.words();
    const std::vector<std::string> expected = split_slowly(text);
    INFO(text);
    REQUIRE(words.size() == expected.size());
    for (std::size_t w = 0; w < words.size(); ++w) {
      const Word& word = words[w];
      CHECK(word.text == expected[w]);
      CHECK(word.text.data() == text.data() + word.column - 1);
      CHECK(word.equals == PlanLine::find_bare(word.text, '='));
      const bool has_value = word.equals != std::string_view::npos;
      CHECK(word.bare == is_bare(has_value ? word.text.substr(word.equals + 1) : word.text));
    }
  }
}

TEST_CASE("names of all lengths are compared up to their last character", "[plan]") {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string name(size, 'a');
    INFO(size << " characters");
    CHECK(same_name(name, std::string(size, 'a')));
    CHECK_FALSE(same_name(name, name + "a"));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = name;
      other[at] = 'b';
      CHECK_FALSE(same_name(name, other));
    }
  }
}

TEST_CASE("a name is found with the number with which it was added", "[plan][property]") {
  std::mt19937 random(4);
  for (int i = 0; i < test::cases_of(200); ++i) {
    const std::string_view letters = i % 2 == 0 ? "01" : "0123456789abFSEND_.";
    std::vector<std::string> texts(random() % 3000);
    for (std::string& text : texts) text = random_text(random, letters, 1 + random() % 20);
    Names names;
    std::map<std::string, std::uint32_t> numbers;
    for (const std::string& text : texts) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      REQUIRE(names.add(text) == numbers.emplace(text, next).second);
    }
    for (const auto& [text, number] : numbers) REQUIRE(names.find(text) == number);
    REQUIRE(names.all().size() == numbers.size());
    for (int k = 0; k < 100; ++k) {
      const std::string other = random_text(random, letters, 8);
      const auto known = numbers.find(other);
      REQUIRE(names.find(other) == (known == numbers.end() ? Names::unknown : known->second));
    }
  }
}

TEST_CASE("names that are made from stage and micro-batch are found with their numbers",
          "[plan][property]") {
  std::mt19937 random(6);
  const auto number = [&](std::int32_t most) {
    return static_cast<std::int32_t>(random() % (static_cast<unsigned>(most) + 2)) - 1;
  };
  for (int i = 0; i < test::cases_of(200); ++i) {
    const std::int32_t most = i % 3 == 0 ? std::numeric_limits<std::int32_t>::max() : 20 * (i % 40);
    FormulaNumbers numbers;
    std::map<std::string, std::uint32_t> known;
    for (std::uint32_t k = 0; k < 500; ++k) {
      const FormulaName name{random() % 2 == 0 ? ActionKind::load : ActionKind::update,
                             number(most), number(k % 7 == 0 ? most : 30)};
      const auto text =
          name_of(Action{.kind = name.kind, .stage = name.stage, .micro_batch = name.micro_batch});
      const auto before = known.find(text);
      REQUIRE(numbers.find(name) ==
              (before == known.end() ? FormulaNumbers::unknown : before->second));
      REQUIRE(numbers.add(name, k) == known.emplace(text, k).second);
      REQUIRE(numbers.find(name) == known.at(text));
    }
  }
}

TEST_CASE(
    "the name of an action must be unique, whether it is made from stage and micro-batch or stored",
    "[plan][property]") {
  std::mt19937 random(5);
  const auto within = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int i = 0; i < test::cases_of(200); ++i) {
    std::vector<Action> actions(random() % 400);
    UniqueNames names;
    std::set<std::string> taken;
    for (Action& action : actions) {
      action.kind = static_cast<ActionKind>(within(0, 3));
      action.stage = within(-2, 6);
      action.micro_batch = within(-2, 9);
      if (within(0, 9) == 0)  // now and then, a number far from all others
        (within(0, 1) == 0 ? action.stage : action.micro_batch) = within(0, 2'000'000'000);
      if (within(0, 3) == 0)
        action.name = std::to_string(within(0, 6)) + "F" + std::to_string(within(0, 9));
      if (within(0, 5) == 0) action.name = "own " + std::to_string(within(0, 30));
      REQUIRE(names.add(action) == taken.insert(name_of(action)).second);
    }
  }
}

}  // namespace
}  // namespace sluice
