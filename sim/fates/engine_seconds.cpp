// Adds up for how many seconds a tape occupies each engine (tape_time.hpp).
#include "fates/tape_time.hpp"

namespace sluice {

EngineSeconds engine_seconds(const Chain& chain, const Tape& tape) {
  EngineSeconds all;
  for (const ChainStage& stage : chain.stages) {
    all.loaded += stage.hand_over.load_s + stage.hand_over.gradient_load_s;
    all.saved += stage.hand_over.save_s + stage.hand_over.gradient_save_s;
  }
  RunsOfStages runs(chain, tape);
  for (const TapeOp& op : tape) {
    const bool copies = op.kind == TapeOp::Kind::load || op.kind == TapeOp::Kind::save;
    if (!copies) {
      const ChainStage& stage = chain.stages[op.number];
      all.computed += op.kind == TapeOp::Kind::forward ? stage.forward_s : stage.backward_s;
      if (runs.begins(op)) all.loaded += stage.turn.load_s;
      if (op.kind != TapeOp::Kind::backward) continue;
      all.loaded += stage.turn.backward_load_s;
      all.saved += stage.turn.backward_save_s;
      continue;
    }
    const ChainTensor& moved = op.inner ? chain.stages[op.number].inner : chain.boundary(op.number);
    (op.kind == TapeOp::Kind::load ? all.loaded : all.saved) +=
        op.kind == TapeOp::Kind::load ? moved.load_s : moved.save_s;
  }
  return all;
}

}  // namespace sluice
