#include "plan/fact_text.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "base/number_in.hpp"
#include "base/quantity.hpp"
#include "plan/line_keys.hpp"

namespace sluice {

namespace {

std::string list_of(const Fact::List& list) {
  std::string text;
  for (const std::string& element : list) text += (text.empty() ? "" : ",") + quoted(element);
  return text;
}

}  // namespace

std::string fact_line(const Fact& fact) {
  std::string line = "fact " + quoted(fact.name) + " ";
  if (const Fact::Number* number = fact.number()) {
    line += exact(number->value);
    if (!number->unit.empty()) line += " unit=" + quoted(number->unit);
  } else if (const Fact::List* list = fact.list()) {
    line += "list=" + list_of(*list);
  } else {
    line += number_in<double>(*fact.text()) ? "\"" + *fact.text() + "\"" : quoted(*fact.text());
  }
  if (!fact.of.empty()) line += " of=" + quoted(fact.of);
  if (!fact.replica.empty()) line += " replica=" + quoted(fact.replica);
  return line;
}

Fact read_fact(const PlanLine& line, const std::vector<Word>& words) {
  if (words.size() < 3)
    line.fail(
        words.back().column,
        "'fact' takes a name and a value: a number, a text, or list=A,B; put a text with blanks in "
        "double quotes");
  const bool lists = words[2].text.rfind("list=", 0) == 0;
  static constexpr std::array<std::string_view, 3> of_list = {"list", "of", "replica"};
  static constexpr std::array<std::string_view, 3> of_value = {"unit", "of", "replica"};
  static constexpr KeyList keys_of_list{of_list}, keys_of_value{of_value};
  const LineKeys keys(line, words, lists ? 2 : 3, lists ? keys_of_list : keys_of_value);
  Fact fact;
  fact.name = line.name(words[1]);
  const std::optional<double> number = number_in<double>(words[2].text);
  if (const Word* unit = keys.find("unit"); unit && !number)
    line.fail(unit->column, "'unit' is only for numbers, and '" + fact.name + "' is a text");
  if (lists) {
    Fact::List list;
    if (!keys.get("list").text.empty())
      line.split(keys.get("list"), ',',
                 [&](const Word& element) { list.push_back(line.name(element)); });
    fact.value = std::move(list);
  } else if (number) {
    const Word* unit = keys.find("unit");
    fact.value = Fact::Number{*number, unit ? line.name(*unit) : ""};
  } else {
    fact.value = line.name(words[2]);
  }
  if (const Word* of = keys.find("of")) fact.of = line.name(*of);
  if (const Word* replica = keys.find("replica")) fact.replica = line.name(*replica);
  return fact;
}

}  // namespace sluice
