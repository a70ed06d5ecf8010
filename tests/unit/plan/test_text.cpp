// Tests the text form of plans, sluice-plan/2. A plan that is written as text and read back must equal the original
// plan. Texts of version 1 can still be read.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/feasibility.hpp"
#include "plan/structure.hpp"
#include "plan/text.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

const std::string everything = R"(format: sluice-plan/2
name all
iterations 2
steps_per_iteration 1
pool hbm capacity=100B owner=gpu0
pool "the ddr" capacity=200B limit=150B owner=gpu0 not_enforced
pool host capacity=unlimited
link l bandwidth=10B/s idle=0W busy=0W
route r links=l setup=0s latency=0s
route "odd:route" links=l setup=0s latency=0s
stream gpu0.compute kind=compute device=gpu0 idle=0W busy=0W
stream gpu0.copy kind=copy device=gpu0 idle=0W busy=0W
stream gpu1.copy kind=copy device=gpu1 idle=0W busy=0W
stage only
tensor x class=input bytes=30 home=host
tensor "a@b" class=activation bytes=20
collective sum kind=all_reduce devices=gpu0,gpu1 algorithm=ring bytes=30
prologue:
0LOAD on=gpu0.copy moves=x route=r not_before=1.5s allocates=x@hbm
0ALL_REDUCE3 on=gpu1.copy moves=x route=r bytes=15 collective=sum
"own name" on=gpu0.copy kind=send stage=0 micro_batch=2 flows=x@r,@"odd:route":7
body:
0F on=gpu0.compute samples=1 flows=x@r:5,@"odd:route":7 seconds=2 flop=3 allocates="a@b"@"the ddr"
0R on=gpu0.compute seconds=1 part=selective waits=0F,prologue:0LOAD uses=x@hbm,"a@b"@"the ddr":rw
0F'2 on=gpu0.compute kind=forward stage=0 seconds=0.5 ahead=1 waits=0R~1
UPDATE on=gpu0.compute seconds=0.25 uses=x@hbm:w
)";

TEST_CASE("every element of a plan is the same after the plan is written and read back", "[plan]") {
  const Plan plan = plan_from_text(everything, "all.plan");
  CHECK(to_text(plan) == everything);
  CHECK_NOTHROW(check_structure(plan));
  const Action& forward = plan.actions[plan.body_begin];
  CHECK(forward.name.empty());
  CHECK(name_of(forward) == "0F");
  CHECK(forward.flows.size() == 2);
  CHECK(forward.flows[0] == Flow{.tensor = 0, .route = 0, .bytes = 5});
  CHECK(forward.flows[1] == Flow{.route = 1, .bytes = 7});
  CHECK_FALSE(forward.is_transfer());
  CHECK(forward.moved_bytes() == 12);
  const Action& again = plan.actions[plan.body_begin + 1];
  CHECK(again.part == WorkPart::selective);
  CHECK(again.uses[1] == Access{.tensor = 1, .pool = 1, .read = true, .written = true});
  CHECK(again.uses[0] == Access{.tensor = 0, .pool = 0});
  CHECK(plan.actions[plan.body_begin + 3].uses[0] ==
        Access{.tensor = 0, .pool = 0, .read = false, .written = true});
  CHECK(plan.actions[0].not_before == 1.5);
  CHECK(plan.actions[1].collective == 0);
  CHECK(plan.actions[1].kind == ActionKind::all_reduce);
  CHECK(plan.actions[1].micro_batch == 3);
  CHECK(plan.pools[0].owner == "gpu0");
  CHECK_FALSE(plan.pools[0].shared());
  CHECK(plan.pools[2].shared());
}

TEST_CASE("if the texts of random plans are read back and written again, the texts are equal",
          "[plan]") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Plan plan =
        test::random_plan(seed, {.ties = seed % 2 == 0, .shared_links = seed % 3 == 0});
    const std::string text = to_text(plan);
    const Plan again = plan_from_text(text, "random.plan");
    INFO("seed " << seed);
    REQUIRE(to_text(again) == text);
    CHECK_NOTHROW(check_structure(again));
  }
}

TEST_CASE("plans in version 1 of the text keep their meaning", "[plan]") {
  const std::string first = R"(format: sluice-plan/1
pool gpu capacity=100B
pool host capacity=unlimited shared
link l bandwidth=10B/s
route r links=l
stream c kind=compute device=gpu
stream i kind=copy device=gpu
tensor x class=input bytes=30
body:
0LOAD0 on=i kind=load stage=0 micro_batch=0 moves=x route=r bytes=20 allocates=x@gpu
run on=c kind=forward seconds=1 waits=0LOAD0 uses=x@gpu
)";
  const std::string second = R"(format: sluice-plan/2
name ""
iterations 0
steps_per_iteration 1
pool gpu capacity=100B owner=gpu
pool host capacity=unlimited
link l bandwidth=10B/s idle=0W busy=0W
route r links=l setup=0s latency=0s
stream c kind=compute device=gpu idle=0W busy=0W
stream i kind=copy device=gpu idle=0W busy=0W
tensor x class=input bytes=30
body:
0LOAD0 on=i moves=x route=r bytes=20 allocates=x@gpu
run on=c kind=forward seconds=1 waits=0LOAD0 uses=x@gpu
)";
  CHECK(to_text(plan_from_text(first, "first.plan")) == second);
  // A formula makes the name of an action from its kind, stage and micro-batch. For the action below, the formula gives
  // another name than 3F0. So 3F0 must be stored with the action.
  const std::string other =
      "format: sluice-plan/1\nstream c kind=compute\nprologue:\n"
      "3F0 on=c kind=backward stage=2 seconds=1\n";
  const Plan plan = plan_from_text(other, "other.plan");
  CHECK(plan.actions[0].name == "3F0");
  CHECK(to_text(plan).find("3F0 on=c kind=backward stage=2 seconds=1") != std::string::npos);
}

TEST_CASE(
    "names that the formula of stage and micro-batch makes are recognised, and other names are not",
    "[plan]") {
  CHECK(formula_of("3F0") == FormulaName{ActionKind::forward, 3, 0});
  CHECK(formula_of("1LOAD") == FormulaName{ActionKind::load, 1, -1});
  CHECK(formula_of("UPDATE") == FormulaName{ActionKind::update, -1, -1});
  CHECK(formula_of("W7") == FormulaName{ActionKind::backward_weight, -1, 7});
  for (const char* name :
       {"", "3", "F03", "03F", "3f0", "3F0'2", "3F-1", "gpu/3F0", "3F99999999999"})
    CHECK_FALSE(formula_of(name).has_value());
  for (const KindRecord& record : action_kinds()) {
    Action action;
    action.kind = record.kind;
    action.stage = 12;
    action.micro_batch = 34;
    CHECK(formula_of(name_of(action)) == FormulaName{record.kind, 12, 34});
    CHECK(kind_with_letter(record.letter) == record.kind);
  }
}

TEST_CASE(
    "equal names in one section are found, whether they are stored or made from stage and micro-batch",
    "[plan]") {
  Plan plan = plan_from_text(
      "format: sluice-plan/2\nstream c kind=compute\nprologue:\n0F on=c seconds=1\n", "two.plan");
  plan.actions.push_back(plan.actions[0]);
  plan.actions[1].kind = ActionKind::backward;
  plan.body_begin = plan.body_end = 2;
  CHECK_NOTHROW(check_structure(plan));
  plan.actions[1].name = "0F";  // the formula gives the first action the same name
  CHECK_THROWS_AS(check_structure(plan), InputError);
  plan.actions[1].name = "0f";
  CHECK_NOTHROW(check_structure(plan));
}

}  // namespace
}  // namespace sluice
