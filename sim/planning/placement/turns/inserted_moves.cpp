#include "planning/placement/turns/inserted_moves.hpp"

#include <map>
#include <utility>

namespace sluice {

void insert_moves(Plan& plan, std::vector<InsertedMove> moves) {
  std::vector<std::uint32_t> count(plan.actions.size() + 1, 0);  // the moves before each action
  for (const InsertedMove& move : moves) ++count[move.before];
  std::vector<std::uint32_t> number;  // the new number of each action
  std::uint32_t added = 0;
  for (std::uint32_t a = 0; a <= plan.actions.size(); ++a)
    number.push_back(a + (added += count[a]));
  std::vector<std::uint32_t> filled(count.size(), 0),
      of_move;  // `of_move`: the number of each move
  for (const InsertedMove& move : moves)
    of_move.push_back(number[move.before] - count[move.before] + filled[move.before]++);
  std::vector<Action> actions(plan.actions.size() + added);
  const auto put = [&](Action& action, std::uint32_t at) {
    for (Wait& wait : action.waits) wait.action = number[wait.action];
    actions[at] = std::move(action);
  };
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) put(plan.actions[a], number[a]);
  for (std::size_t m = 0; m < moves.size(); ++m) {
    put(moves[m].action, of_move[m]);
    for (const InsertedMove::After& after : moves[m].after)
      actions[of_move[m]].waits.push_back({of_move[after.move], after.distance});
    for (const Wait& by : moves[m].waited_by)
      actions[number[by.action]].waits.push_back({of_move[m], by.distance});
  }
  plan.body_end += added;
  plan.actions = std::move(actions);
}

void say_moved_bytes(Plan& plan) {
  std::map<std::uint32_t, std::int64_t> bytes;  // by pool
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    if (plan.actions[a].kind == ActionKind::move)
      bytes[plan.actions[a].flow().to] += plan.actions[a].flow().bytes;
  std::erase_if(plan.facts, [](const Fact& fact) { return fact.name == "moved_bytes"; });
  for (const auto& [pool, moved] : bytes)
    plan.facts.push_back(Fact("moved_bytes", moved, "byte").said_of("to " + plan.pools[pool].name));
}

}  // namespace sluice
