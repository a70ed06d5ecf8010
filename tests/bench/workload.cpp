#include "workload.hpp"

#include <algorithm>
#include <string>

namespace sluice::bench {

namespace {

std::uint32_t hash(std::uint32_t stage, std::uint32_t micro_batch, std::uint32_t kind) {
  return ((stage * 131U + micro_batch * 31U + kind * 17U) * 2654435761U) >> 16U;
}

std::uint32_t add_stream(Plan& plan, const std::string& name, StreamKind kind) {
  plan.streams.push_back({name, kind, name, 0, 0});
  return static_cast<std::uint32_t>(plan.streams.size() - 1);
}

/// Adds a new link, with the route over it and the copy engine that uses it.
std::uint32_t add_copy_engine(Plan& plan, const std::string& name) {
  plan.links.push_back({name, link_bandwidth, 0, 0});
  plan.routes.push_back(
      {name, {static_cast<std::uint32_t>(plan.links.size() - 1)}, 0, link_latency_s});
  return add_stream(plan, name, StreamKind::copy);
}

std::uint32_t add_compute(Plan& plan, std::uint32_t stream, int stage, int micro_batch,
                          bool backward, double duration) {
  Action action;
  action.kind = backward ? ActionKind::backward : ActionKind::forward;
  action.stream = stream;
  action.stage = stage;
  action.micro_batch = micro_batch;
  action.seconds = duration;
  plan.actions.push_back(std::move(action));
  return static_cast<std::uint32_t>(plan.actions.size() - 1);
}

std::uint32_t add_transfer(Plan& plan, std::uint32_t stream, std::uint32_t route, ActionKind kind,
                           const std::string& name, int stage, int micro_batch) {
  Action action;
  action.kind = kind;
  action.name = name;
  action.stream = stream;
  action.stage = stage;
  action.micro_batch = micro_batch;
  action.flows = {{.tensor = 0, .route = route, .bytes = transfer_bytes}};
  plan.actions.push_back(std::move(action));
  return static_cast<std::uint32_t>(plan.actions.size() - 1);
}

}  // namespace

double compute_seconds(int stage, int micro_batch, bool backward, bool hashed) {
  const auto h = hashed ? hash(static_cast<std::uint32_t>(stage),
                               static_cast<std::uint32_t>(micro_batch), backward ? 1 : 0) %
                              101U
                        : 0U;
  return ((backward ? 2000 : 1000) + static_cast<int>(h)) * 1e-6;
}

std::vector<Step> order_of_stage(const Pipeline& p, int stage) {
  std::vector<Step> steps;
  const int warm_up =
      p.one_f_one_b ? std::min(p.stages - 1 - stage, p.micro_batches) : p.micro_batches;
  for (int m = 0; m < warm_up; ++m) steps.push_back({false, m});
  int backward = 0;
  for (int m = warm_up; m < p.micro_batches; ++m) {
    steps.push_back({false, m});
    steps.push_back({true, backward++});
  }
  if (p.one_f_one_b)
    for (; backward < p.micro_batches; ++backward) steps.push_back({true, backward});
  else  // GPipe runs all forward passes, and then the backward passes in reverse order
    for (int m = p.micro_batches - 1; m >= 0; --m) steps.push_back({true, m});
  return steps;
}

Plan pipeline_plan(const Pipeline& p) {
  Plan plan;
  plan.name = p.one_f_one_b ? "pipeline 1F1B" : "pipeline GPipe";
  plan.tensors.push_back({"boundary", TensorClass::activation, transfer_bytes});
  std::vector<std::uint32_t> compute, forth, back;
  for (int s = 0; s < p.stages; ++s)
    compute.push_back(add_stream(plan, "device" + std::to_string(s), StreamKind::compute));
  for (int s = 0; s + 1 < p.stages; ++s) {
    forth.push_back(add_copy_engine(plan, "forth" + std::to_string(s)));
    back.push_back(add_copy_engine(plan, "back" + std::to_string(s)));
  }
  const auto key = [&](int s, int m) { return static_cast<std::size_t>(s * p.micro_batches + m); };
  const std::size_t count = key(p.stages, 0);
  std::vector<std::uint32_t> sent_forth(count), sent_back(count);
  for (int s = 0; s < p.stages; ++s)
    for (const Step& step : order_of_stage(p, s)) {
      const int m = step.micro_batch;
      const std::uint32_t a =
          add_compute(plan, compute[static_cast<std::size_t>(s)], s, m, step.backward,
                      compute_seconds(s, m, step.backward, p.hashed));
      const int to = step.backward ? s - 1 : s + 1;
      if (to < 0 || to >= p.stages) continue;
      const auto link = static_cast<std::size_t>(std::min(s, to));
      const std::uint32_t x = add_transfer(
          plan, step.backward ? back[link] : forth[link],
          static_cast<std::uint32_t>(2 * link + (step.backward ? 1 : 0)), ActionKind::send,
          std::to_string(s) + (step.backward ? "SEND_B" : "SEND_F") + std::to_string(m), s, m);
      plan.actions[x].waits.push_back({a, 0});
      (step.backward ? sent_back : sent_forth)[key(s, m)] = x;
    }
  for (Action& action : plan.actions) {
    if (action.is_transfer()) continue;
    const bool backward = action.kind == ActionKind::backward;
    const int from = action.stage + (backward ? 1 : -1);
    if (from >= 0 && from < p.stages)
      action.waits.push_back(
          {(backward ? sent_back : sent_forth)[key(from, action.micro_batch)], 0});
  }
  plan.body_begin = plan.body_end = static_cast<std::uint32_t>(plan.actions.size());
  return plan;
}

Plan offload_plan(int layers, int iterations) {
  constexpr int window = 2;
  Plan plan;
  plan.name = "offload";
  plan.tensors.push_back({"activation", TensorClass::activation, transfer_bytes});
  const std::uint32_t gpu = add_stream(plan, "gpu", StreamKind::compute);
  const std::uint32_t out = add_copy_engine(plan, "d2h"), in = add_copy_engine(plan, "h2d");
  for (int i = 0; i < iterations; ++i) {
    std::vector<std::uint32_t> save(static_cast<std::size_t>(layers)), load = save, back = save;
    std::uint32_t last_forward = none;
    const auto name = [&](int l, const char* what) {
      return std::to_string(l) + what + std::to_string(i);
    };
    for (int l = 0; l < layers; ++l) {
      last_forward = add_compute(plan, gpu, l, i, false, compute_seconds(l, i, false, true));
      save[static_cast<std::size_t>(l)] =
          add_transfer(plan, out, 0, ActionKind::save, name(l, "SAVE"), l, i);
      plan.actions.back().waits.push_back({last_forward, 0});
    }
    for (int l = layers - 1; l >= 0; --l) {
      const auto at = static_cast<std::size_t>(l);
      load[at] = add_transfer(plan, in, 1, ActionKind::load, name(l, "LOAD"), l, i);
      plan.actions.back().waits = {{save[at], 0},
                                   {l + window < layers ? back[at + window] : last_forward, 0}};
      back[at] = add_compute(plan, gpu, l, i, true, compute_seconds(l, i, true, true));
      plan.actions.back().waits = {{load[at], 0}};
    }
  }
  plan.body_begin = plan.body_end = static_cast<std::uint32_t>(plan.actions.size());
  return plan;
}

Plan loop_plan(int layers, int iterations) {
  Plan plan;
  plan.name = "loop";
  plan.pools.push_back({"gpu", 2 * transfer_bytes, "gpu"});
  const std::uint32_t gpu = add_stream(plan, "gpu", StreamKind::compute);
  const std::uint32_t in = add_copy_engine(plan, "h2d");
  for (int l = 0; l < layers; ++l) {
    const auto tensor = static_cast<std::uint32_t>(plan.tensors.size());
    plan.tensors.push_back({"input" + std::to_string(l), TensorClass::activation, transfer_bytes});
    const std::uint32_t load =
        add_transfer(plan, in, 0, ActionKind::load, std::to_string(l) + "LOAD", l, 0);
    plan.actions[load].flows[0].tensor = tensor;
    plan.actions[load].allocates = {{tensor, 0}};
    add_compute(plan, gpu, l, 0, false, compute_seconds(l, 0, false, true));
    plan.actions.back().waits = {{load, 0}};
    plan.actions.back().uses = {{tensor, 0}};
  }
  plan.body_end = static_cast<std::uint32_t>(plan.actions.size());
  plan.iterations = iterations;
  return plan;
}

}  // namespace sluice::bench
