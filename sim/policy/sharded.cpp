// sharded: each stage has its device for good, its weights stay there; batches run one after the
// other through all devices, and what crosses from stage to stage goes over the link between their
// devices. Seed 004's --sharded-execution.
//
// Time without contention, per micro-batch: the sum of all computations and of all crossings; the
// next input comes in beside, the last answer goes out beside.
#include <algorithm>

#include "base/error.hpp"
#include "planning/parts.hpp"
#include "policy/policy.hpp"

namespace sluice {

namespace {

/// By stage: as listed, or equal runs of stages over all devices in order.
std::vector<std::string> devices_of_stages(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  const std::size_t stages = request.pricing.stages.size();
  std::vector<std::string> devices;
  if (!parameters.has("devices")) {
    const std::size_t count = std::min(platform.devices.size(), stages);
    for (std::size_t s = 0; s < stages; ++s)
      devices.push_back(platform.devices[s * count / stages].name);
    return devices;
  }
  for (const Value& name : parameters.value("devices")->items())
    devices.push_back(located(name, [&] { return platform.device(name.text()).name; }));
  if (devices.size() != stages)
    parameters.fail("devices", "'devices' lists " + std::to_string(devices.size()) +
                                   " devices for " + std::to_string(stages) +
                                   " stages: one for each");
  return devices;
}

class Sharded {
 public:
  Sharded(const PolicyRequest& request, const Reader& parameters)
      : request_(request),
        bytes_(stage_bytes(request)),
        devices_(devices_of_stages(request, parameters)),
        overlap_(parameters.boolean("overlap")),
        return_outputs_(parameters.text("outputs") == "return"),
        host_(request.pricing.platform.host().name),
        builder_(request.pricing.platform, "sharded", request.capacity_enforced) {}

  Draft make() {
    const Round round = round_of(request_.workload);
    hold_caches(builder_, request_, devices_);
    hold_step(builder_, request_, host_, return_outputs_);
    loaded_ = list_weights(builder_, bytes_, devices_, host_);
    builder_.enter(Section::body);
    for (std::int64_t q = 0; q < round.micro_batches; ++q) list_micro_batch(q);
    add_waits();
    for (std::size_t s = 0; s < devices_.size(); ++s)
      builder_.fact(Fact("device_of_stage", devices_[s]).said_of(std::to_string(s)));
    return {finish_rounds(builder_, request_.workload, round), !overlap_};
  }

 private:
  struct MicroBatch {
    PlanBuilder::Ref input, first, last, save;
  };

  void list_micro_batch(std::int64_t q) {
    MicroBatch listed;
    std::uint32_t tensor =
        builder_.tensor("input." + std::to_string(q), TensorClass::input, bytes_[0].input);
    listed.input = builder_.transfer(ActionKind::load, tensor, {host_, devices_[0], false, true}, 0,
                                     static_cast<std::int32_t>(q));
    PlanBuilder::Ref arrived = listed.input;
    for (std::size_t s = 0; s < bytes_.size(); ++s) {
      if (s > 0 && devices_[s] != devices_[s - 1]) {
        arrived = builder_.transfer(ActionKind::send, tensor, {devices_[s - 1], devices_[s]},
                                    static_cast<std::int32_t>(s), static_cast<std::int32_t>(q));
        builder_.wait(arrived, listed.last);
      }
      ForwardOf forward = forward_of(s, q);
      forward.last = s + 1 == bytes_.size();
      forward.drops_output = forward.last && !return_outputs_;
      const Made made = list_stage(builder_, std::move(forward), tensor);
      listed.last = made.action;
      tensor = made.output;
      builder_.wait(listed.last, arrived);
      if (q == 0) builder_.wait(listed.last, loaded_[s]);
      if (!listed.first) listed.first = listed.last;
      arrived = {};
    }
    if (return_outputs_) {
      listed.save = list_save(builder_, tensor, forward_of(bytes_.size() - 1, q), host_, true);
      builder_.wait(listed.save, listed.last);
    }
    listed_.push_back(listed);
  }

  ForwardOf forward_of(std::size_t s, std::int64_t q) const {
    return {s, q, devices_[s], bytes_[s], request_.workload.micro_batch};
  }

  /// One batch after the other; its input may come in while the one before is computed, and the
  /// answer of the one before the last must be out.
  void add_waits() {
    const auto count = static_cast<std::int64_t>(listed_.size());
    const auto before = [&](std::int64_t q, std::int64_t back, auto&& call) {
      const InRow earlier = in_row(q - back, count);
      call(listed_[earlier.place], earlier.steps_ago);
    };
    for (std::int64_t q = 0; q < count; ++q) {
      const MicroBatch& mine = listed_[static_cast<std::size_t>(q)];
      before(q, 1, [&](const MicroBatch& other, std::uint32_t distance) {
        builder_.wait(mine.first, other.last, distance);
      });
      before(q, 2, [&](const MicroBatch& other, std::uint32_t distance) {
        builder_.wait(mine.input, other.last, distance);
        builder_.wait(mine.last, other.save, distance);
      });
    }
  }

  const PolicyRequest& request_;
  std::vector<StageBytes> bytes_;
  std::vector<std::string> devices_;
  bool overlap_, return_outputs_;
  std::string host_;
  PlanBuilder builder_;
  std::vector<PlanBuilder::Ref> loaded_;
  std::vector<MicroBatch> listed_;
};

Draft plan_sharded(const PolicyRequest& request, const Reader& parameters) {
  return Sharded(request, parameters).make();
}

std::vector<Field> parameters() {
  return {
      {.name = "devices",
       .type = Type::list,
       .summary = "the device of each stage; equal runs of stages over all devices where not given",
       .optional = true},
      {.name = "overlap",
       .type = Type::boolean,
       .summary = "inputs and answers move beside computation; off: one thing at a time",
       .default_text = "true"},
      {.name = "outputs",
       .type = Type::choice,
       .summary = "return: each answer is saved to host memory; discard: it is dropped",
       .default_text = "return",
       .choices = {"return", "discard"}},
  };
}

}  // namespace

extern const Policy sharded_policy;
const Policy sharded_policy = {
    .name = "sharded",
    .summary = "Stages fixed on devices, one batch after another, without phases.",
    .source = "seed 004, --sharded-execution",
    .parameters = parameters(),
    .all_devices = true,
    .cuts = cuts_for_devices,
    .plan = plan_sharded,
};

}  // namespace sluice
