// Tests that a plan is refused if its waits form a cycle. An action that never runs is not part of a cycle.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "plan/structure.hpp"
#include "plan/text.hpp"

namespace sluice {
namespace {

/// Returns a plan in which the action 'later' works for the next iteration. The actions 'later' and 'second' are on the
/// same stream, and 'later' is listed first. But 'later' waits for 'third', and 'third' waits for 'second'.
Plan plan_of(int iterations) {
  return plan_from_text("format: sluice-plan/2\nname order\niterations " +
                            std::to_string(iterations) +
                            "\n"
                            "stream one kind=compute device=gpu\n"
                            "stream two kind=compute device=other\n"
                            "body:\n"
                            "later on=one kind=forward seconds=1 ahead=1 waits=third\n"
                            "second on=one kind=forward seconds=2\n"
                            "third on=two kind=forward seconds=4 waits=second\n",
                        "order.plan");
}

TEST_CASE("an action for an iteration that does not exist is not part of a cycle") {
  const Plan once = plan_of(1);
  CHECK_NOTHROW(check_structure(once));
  CHECK(replay(once).makespan == 6);
}

TEST_CASE(
    "an action that runs only in some iterations can be part of a cycle in these iterations") {
  std::string message;
  try {
    check_structure(plan_of(2));
  } catch (const InputError& error) {
    message = error.what();
  }
  CHECK_THAT(message, Catch::Contains("order.plan:7:1") &&
                          Catch::Contains("'later' after 'third' after 'second' after 'later'"));
}

}  // namespace
}  // namespace sluice
