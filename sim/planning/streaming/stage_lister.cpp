#include "planning/streaming/stage_lister.hpp"

namespace sluice {

StageLister::StageLister(PlanBuilder& builder, const PolicyRequest& request,
                         const CommonParameters& common, std::vector<StageBytes> bytes)
    : builder_(builder), request_(request), common_(common), bytes_(std::move(bytes)) {
  const std::int64_t count = request.workload.micro_batches_per_step();
  for (std::int64_t m = 0; m < count; ++m)
    inputs_.push_back(builder.tensor("input." + std::to_string(m), TensorClass::input,
                                     bytes_.front().input, common.host));
}

void StageLister::hold_caches() {
  sluice::hold_caches(builder_, request_,
                      std::vector<std::string>(bytes_.size(), common_.device.name));
}

SlotLoad StageLister::input_load(std::int64_t micro_batch, std::int64_t slot) {
  SlotLoad load;
  load.tensor = input_tensor(micro_batch);
  load.ends = {.from = common_.host, .to = common_.device.name, .release = false};
  load.stage = 0;
  load.micro_batch = static_cast<std::int32_t>(micro_batch);
  load.slot = slot;
  return load;
}

StageOutput StageLister::forward(std::size_t stage, std::int64_t micro_batch,
                                 const std::vector<std::uint32_t>& reads,
                                 const std::vector<std::uint32_t>& makes) {
  ForwardPass forward = forward_of(stage, micro_batch);
  forward.last = stage + 1 == bytes_.size();
  forward.drops_output = forward.last && !common_.return_outputs;
  forward.drops_answer = !common_.return_outputs;
  forward.home = common_.host;
  if (!makes.empty()) forward.output = makes.front();
  const StageOutput made =
      list_stage(builder_, std::move(forward), reads.empty() ? none : reads.front());
  Action& action = builder_.at(made.action);
  const std::uint32_t pool = builder_.pool(common_.device.name);
  for (std::size_t i = 1; i < reads.size(); ++i) action.uses.push_back({reads[i], pool});
  for (std::size_t i = 1; i < makes.size(); ++i) action.allocates.push_back({makes[i], pool});
  return made;
}

PlanBuilder::Ref StageLister::save(const StageOutput& made, std::size_t stage,
                                   std::int64_t micro_batch, bool answer) {
  const bool part = made.answer != none;
  const PlanBuilder::Ref ref = list_save(builder_, part ? made.answer : made.output,
                                         forward_of(stage, micro_batch), common_.host, answer);
  if (part) builder_.at(ref).samples_done = 0;
  builder_.wait(ref, made.action);
  saves_.emplace_back(made.action, ref);
  return ref;
}

ForwardPass StageLister::forward_of(std::size_t stage, std::int64_t micro_batch) const {
  return {stage, micro_batch, common_.device.name, bytes_[stage], request_.workload.micro_batch};
}

void StageLister::finish() {
  finish(std::vector<std::int64_t>(saves_.size(), common_.buffers));
}

void StageLister::finish(const std::vector<std::int64_t>& buffers) {
  const auto count = static_cast<std::int64_t>(saves_.size());
  for (std::int64_t j = 0; j < count; ++j) {
    const RowPosition earlier = row_position(j - buffers[static_cast<std::size_t>(j)], count);
    builder_.wait(saves_[static_cast<std::size_t>(j)].first, saves_[earlier.index].second,
                  earlier.steps_ago);
  }
}

}  // namespace sluice
