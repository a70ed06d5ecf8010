// Tests how the facts of a plan are written as text, read back and shown.
#include <catch2/catch.hpp>

#include <limits>

#include "base/error.hpp"
#include "plan/fact_text.hpp"
#include "plan/text.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

Plan plan_with(const std::string& line) {
  return plan_from_text("format: sluice-plan/1\nname x\n" + line + "\n", "p.plan");
}

TEST_CASE("the text of a fact shows the type of its value, and is read back as an equal fact") {
  struct Case {
    Fact fact;
    std::string line;
  };
  Fact replica("chosen", "in_flight: 2");
  replica.replica = "gpu0";
  const std::vector<Case> cases = {
      {Fact("in_flight", 587), "fact in_flight 587"},
      {Fact("chosen_s", 6.5, "s"), "fact chosen_s 6.5 unit=s"},
      {Fact("fates", "keep_all"), "fact fates keep_all"},
      {Fact("version", "12"), "fact version \"12\""},
      {Fact("odd", "inf"), "fact odd \"inf\""},
      {Fact("empty", ""), "fact empty \"\""},
      {Fact("with blanks", "a \"b\""), "fact \"with blanks\" \"a \\\"b\\\"\""},
      {Fact("devices", Fact::List{"gpu0", "a,b"}), "fact devices list=gpu0,\"a,b\""},
      {Fact("nothing", Fact::List{}), "fact nothing list="},
      {Fact("weight_passes", 2).said_of("0"), "fact weight_passes 2 of=0"},
      {replica, "fact chosen \"in_flight: 2\" replica=gpu0"},
  };
  for (const Case& one : cases) {
    INFO(one.line);
    CHECK(fact_line(one.fact) == one.line);
    const Plan plan = plan_with(one.line);
    REQUIRE(plan.facts.size() == 1);
    CHECK(plan.facts[0] == one.fact);
  }
}

TEST_CASE("the text of a bad fact is refused at the faulty word") {
  const auto refused = [](const std::string& line) {
    try {
      plan_with(line);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  CHECK_THAT(refused("fact a"), Contains("p.plan:3:6: error: 'fact' takes a name and a value"));
  CHECK_THAT(refused("fact a b unit=s"),
             Contains("p.plan:3:15") && Contains("'unit' is only for numbers, and 'a' is a text"));
  CHECK_THAT(refused("fact a 1 2"), Contains("p.plan:3:10") && Contains("unknown key '2'"));
  CHECK_THAT(refused("fact a list=b unit=s"), Contains("unknown key 'unit'"));
  CHECK_THAT(refused("fact a 1 of=b of=c"), Contains("key 'of' is given twice"));
}

TEST_CASE("facts are shown with their unit, and found by name and subject") {
  CHECK(Fact("a", 587).shown() == "587");
  CHECK(Fact("a", 0.0065, "s").shown() == "6.5 ms");
  CHECK(Fact("a", 24e9, "byte").shown() == "24 GB");
  CHECK(Fact("a", 0.25, "1").shown() == "0.25");
  CHECK(Fact("a", Fact::List{"x", "y"}).shown() == "x, y");
  Fact replica("a", 3);
  replica.replica = "gpu0";
  const std::vector<Fact> facts = {replica, Fact("a", 1).said_of("0"), Fact("a", 2)};
  CHECK(find_fact(facts, "a")->number()->value == 2);
  CHECK(find_fact(facts, "a", "0")->number()->value == 1);
  CHECK(find_fact(facts, "b") == nullptr);
}

}  // namespace
}  // namespace sluice
