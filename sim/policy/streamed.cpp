// streamed: groups of stages whose weights take turns on the device (a group is a stage of the
// cut). For each group the weights are loaded, then all micro-batches in flight run through it;
// what crosses to the next group stays on the device or goes through host memory. When a step has
// more micro-batches than are in flight, the weights pass several times.
#include "policy/training/training.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/blocking.hpp"
#include "execute/check.hpp"

namespace sluice {

namespace {

/// The step as executions of groups: pass p runs group g over micro-batches first..first+count-1.
struct GroupRun {
  std::size_t group;
  std::int64_t pass;
  std::int64_t first_micro_batch, count;
  std::int64_t first_slot;
  std::int64_t last_slot() const { return first_slot + count - 1; }
};

std::vector<GroupRun> group_runs(std::size_t groups, std::int64_t per_step,
                                 std::int64_t in_flight) {
  std::vector<GroupRun> runs;
  std::int64_t slot = 0, pass = 0;
  for (std::int64_t first = 0; first < per_step; first += in_flight, ++pass)
    for (std::size_t g = 0; g < groups; ++g) {
      const std::int64_t count = std::min(in_flight, per_step - first);
      runs.push_back({g, pass, first, count, slot});
      slot += count;
    }
  return runs;
}

class Streamed {
 public:
  Streamed(const PolicyRequest& request, const Reader& parameters)
      : request_(request),
        common_(read_common(request, parameters)),
        bytes_(stage_bytes(request)),
        caches_(cache_bytes(request)),
        per_step_(request.workload.micro_batches_per_step()),
        prefetch_(read_prefetch(parameters)),
        capacity_(request.capacity_enforced ? common_.device.capacity : std::nullopt),
        in_flight_(read_in_flight(parameters)),
        runs_(group_runs(bytes_.size(), per_step_, in_flight_)),
        builder_(request.pricing.platform, "streamed", request.capacity_enforced),
        runner_(builder_, request, common_),
        slots_(builder_, {{common_.device.name, slot_bytes(), capacity_}}) {}

  Plan make() {
    runner_.hold_caches();
    std::vector<PlanBuilder::Ref> kept;
    if (bytes_.size() == 1)  // one group: no turns to take
      kept = runner_.load_all_weights();
    else
      add_weight_loads();
    add_input_loads();
    std::vector<std::uint32_t> crossing(static_cast<std::size_t>(per_step_));
    std::size_t run = 0;
    slots_.list([&](std::int64_t slot) {
      while (slot > runs_[run].last_slot()) ++run;
      return list_slot(runs_[run], slot, crossing, kept);
    });
    runner_.finish();
    state_facts();
    Plan plan = builder_.finish(request_.workload.steps);
    if (!common_.overlap) serialise(plan);
    lower(plan, request_.pricing);
    if (capacity_ && peak(in_flight_) > *capacity_) refuse(plan);
    return plan;
  }

 private:
  /// Does not fit: which group, with what, and what would; then the whole story of the plan.
  [[noreturn]] void refuse(const Plan& plan) const {
    const auto gb = [](std::int64_t bytes) {
      return format_quantity(static_cast<double>(bytes), Dimension::bytes);
    };
    std::string message = "does not fit: with " + std::to_string(in_flight_) +
                          (in_flight_ == 1 ? " micro-batch in flight" : " micro-batches in flight");
    for (std::size_t g = 0; g < bytes_.size(); ++g) {
      const std::int64_t first = bytes_at(g, 0, in_flight_);
      const std::int64_t needed = std::max(first, bytes_at(g, in_flight_ - 1, in_flight_));
      if (needed <= *capacity_) continue;
      const StageBytes& stage = bytes_[g];
      message += "\n  group " + request_.pricing.stages[g].name + " needs " + bytes_text(needed) +
                 " of the " + gb(*capacity_) + " of " + common_.device.name + ": weights " +
                 gb(stage.weights) + ", workspace " + gb(stage.workspace) +
                 (caches_ > 0 ? ", caches of all groups " + gb(caches_) : "") +
                 ", activations and input or output " +
                 gb(needed - stage.weights - stage.workspace - caches_);
    }
    const std::int64_t most = most_in_flight();
    message += peak(most) <= *capacity_
                   ? "\n  the most that fit in flight: " + std::to_string(most)
                   : std::string("\n  not one micro-batch fits: cut the model into smaller stages");
    const auto blocking = blocks(plan);
    throw Infeasible(message + (blocking ? "\n" + describe(plan, *blocking) : ""));
  }

  bool offloads() const { return request_.strategy == "offload_all" && bytes_.size() > 1; }

  std::int64_t read_prefetch(const Reader& parameters) const {
    if (!parameters.has("prefetch")) return common_.overlap ? 1 : 0;
    const std::int64_t groups = parameters.integer("prefetch");
    if (groups > 0 && !common_.overlap)
      parameters.fail("prefetch", "'" + std::to_string(groups) +
                                      "' for 'prefetch': without overlap nothing is loaded ahead, "
                                      "it must be 0");
    return groups;
  }

  /// Bytes on the device while micro-batch `m` of `count` runs through group g, alone; more than
  /// 2^63 - 1 count as that.
  std::int64_t bytes_at(std::size_t g, std::int64_t m, std::int64_t count) const {
    const StageBytes& stage = bytes_[g];
    const bool last = g + 1 == bytes_.size();
    const std::int64_t inputs = g == 0 || offloads() ? 1 : count - m;
    const std::int64_t outputs = last || offloads() ? 1 : m + 1;
    __extension__ using Wide =
        __int128;  // counts and bytes each fit in 64 bits, not their products
    const Wide bytes = static_cast<Wide>(inputs) * stage.input +
                       static_cast<Wide>(outputs) * stage.output + stage.weights + stage.workspace +
                       caches_;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    return bytes > most ? most : static_cast<std::int64_t>(bytes);
  }

  /// The most bytes with so many in flight; linear in m within a group, so its ends decide.
  std::int64_t peak(std::int64_t in_flight) const {
    std::int64_t most = 0;
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      most = std::max({most, bytes_at(g, 0, in_flight), bytes_at(g, in_flight - 1, in_flight)});
    return most;
  }

  std::int64_t read_in_flight(const Reader& parameters) const {
    return parameters.is_word("in_flight", "auto")
               ? most_in_flight()
               : std::min(parameters.integer("in_flight"), per_step_);
  }

  /// The most that fit; 1 where not even that fits.
  std::int64_t most_in_flight() const {
    std::int64_t fits = 1, too_many = per_step_ + 1;
    while (too_many - fits > 1) {
      const std::int64_t middle = fits + (too_many - fits) / 2;
      (!capacity_ || peak(middle) <= *capacity_ ? fits : too_many) = middle;
    }
    return fits;
  }

  std::vector<std::int64_t> slot_bytes() const {
    std::vector<std::int64_t> bytes;
    for (const GroupRun& run : runs_)
      for (std::int64_t m = 0; m < run.count; ++m)
        bytes.push_back(bytes_at(run.group, m, run.count));
    return bytes;
  }

  /// Run number r, also of the steps before (r < 0), with its slots counted from this step's first.
  std::int64_t last_slot_of(std::int64_t r) const {
    const InRow run = in_row(r, static_cast<std::int64_t>(runs_.size()));
    return runs_[run.place].last_slot() - run.steps_ago * slots_.count();
  }

  void add_weight_loads() {
    std::vector<std::uint32_t> home;
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      home.push_back(builder_.tensor("weights." + std::to_string(g), TensorClass::weight,
                                     bytes_[g].weights, common_.host));
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const GroupRun& run = runs_[r];
      SlotLoad load;
      load.tensor = run.pass == 0 ? home[run.group]
                                  : builder_.tensor("weights." + std::to_string(run.group) +
                                                        ".pass" + std::to_string(run.pass),
                                                    TensorClass::weight, bytes_[run.group].weights);
      load.ends = {common_.host, common_.device.name, false, true};
      load.stage = static_cast<std::int32_t>(run.group);
      load.slot = run.first_slot;
      load.after = last_slot_of(static_cast<std::int64_t>(r) - prefetch_ - 1);
      load.earliest = load.after + 1;
      weights_.push_back(load.tensor);
      if (bytes_[run.group].weights > 0) slots_.add(std::move(load));
    }
  }

  /// Inputs come in for the first group, at most `buffers` ahead of the computation that uses them.
  void add_input_loads() {
    std::vector<std::int64_t> slot_of(static_cast<std::size_t>(per_step_));
    for (const GroupRun& run : runs_)
      for (std::int64_t m = 0; m < run.count && run.group == 0; ++m)
        slot_of[static_cast<std::size_t>(run.first_micro_batch + m)] = run.first_slot + m;
    for (std::int64_t q = 0; q < per_step_; ++q) {
      SlotLoad load = runner_.input_load(q, slot_of[static_cast<std::size_t>(q)]);
      const InRow earlier = in_row(q - common_.buffers, per_step_);
      load.after = slot_of[earlier.place] - earlier.steps_ago * slots_.count();
      load.earliest = load.after + 1;
      slots_.add(std::move(load));
    }
    if (offloads()) add_reloads();
  }

  /// Boundary activations come back for each later group, after they were saved.
  void add_reloads() {
    reloads_.resize(static_cast<std::size_t>(slots_.count()), none);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const GroupRun& run = runs_[r];
      if (run.group == 0) continue;
      for (std::int64_t m = 0; m < run.count; ++m) {
        const std::int64_t slot = run.first_slot + m;
        const std::int64_t made_in = runs_[r - 1].first_slot + m;
        SlotLoad load;
        load.tensor = builder_.tensor("boundary." + std::to_string(run.group - 1) + "." +
                                          std::to_string(run.first_micro_batch + m) + ".reloaded",
                                      TensorClass::activation, bytes_[run.group].input);
        load.ends = {common_.host, common_.device.name, false, true};
        load.stage = static_cast<std::int32_t>(run.group);
        load.micro_batch = static_cast<std::int32_t>(run.first_micro_batch + m);
        load.slot = slot;
        load.after = std::max(slot - common_.buffers, made_in);
        load.earliest = load.after + 1;
        load.reloads = {.slot = made_in};
        reloads_[static_cast<std::size_t>(slot)] = load.tensor;
        slots_.add(std::move(load));
      }
    }
  }

  SlotWork list_slot(const GroupRun& run, std::int64_t slot, std::vector<std::uint32_t>& crossing,
                     const std::vector<PlanBuilder::Ref>& kept) {
    const std::int64_t q = run.first_micro_batch + (slot - run.first_slot);
    const auto at = static_cast<std::size_t>(q);
    const std::uint32_t input = run.group == 0 ? runner_.input_tensor(q)
                                : offloads()   ? reloads_[static_cast<std::size_t>(slot)]
                                               : crossing[at];
    const Made made = runner_.forward(run.group, q, input);
    crossing[at] = made.output;
    if (!kept.empty() && slot == 0) builder_.wait(made.action, kept.front());
    if (kept.empty() && bytes_[run.group].weights > 0)
      builder_.at(made.action)
          .uses.push_back({weights_[static_cast<std::size_t>(&run - runs_.data())],
                           builder_.pool(common_.device.name)});
    const bool last = run.group + 1 == bytes_.size();
    if (last && common_.return_outputs) runner_.save(made, run.group, q, true);
    SlotWork work{made.action, made.action};
    if (!last && offloads())
      work.saves.push_back({runner_.save(made, run.group, q, false), made.output});
    return work;
  }

  void state_facts() {
    const std::int64_t passes = runs_.back().pass + 1;
    builder_.fact("in_flight", std::to_string(in_flight_));
    builder_.fact("passes_per_step", std::to_string(passes));
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      builder_.fact("weight_passes." + std::to_string(g),
                    std::to_string(bytes_.size() == 1 ? 1 : passes * request_.workload.steps));
    builder_.fact("loads_listed_ahead", std::to_string(slots_.early()));
  }

  const PolicyRequest& request_;
  Common common_;
  std::vector<StageBytes> bytes_;
  std::int64_t caches_;  ///< of all groups: they stay
  std::int64_t per_step_;
  std::int64_t prefetch_;
  std::optional<std::int64_t> capacity_;
  std::int64_t in_flight_;
  std::vector<GroupRun> runs_;
  PlanBuilder builder_;
  StageRunner runner_;
  Slots slots_;
  std::vector<std::uint32_t> weights_;  ///< by run
  std::vector<std::uint32_t> reloads_;  ///< by slot: the tensor that comes back
};

Plan plan_streamed(const PolicyRequest& request, const Reader& parameters) {
  if (request.workload.training) {
    const Common common = read_common(request, parameters);
    TrainingOrder order{"streamed", false, {}, {common.device.name}, common.overlap};
    if (!parameters.is_word("in_flight", "auto")) order.in_flight = parameters.integer("in_flight");
    refuse_common_in_training(parameters);
    refuse_in_training(parameters, {"prefetch"},
                       "loads are listed as late as they can be without being waited for");
    return plan_training(request, order);
  }
  return Streamed(request, parameters).make();
}

std::vector<Field> parameters() {
  std::vector<Field> fields = common_parameters();
  fields.push_back({.name = "in_flight",
                    .type = Type::integer,
                    .summary =
                        "micro-batches that run through each group between two loads of its "
                        "weights, at most those of a step; auto: the most that fit, working set "
                        "counted; in training equal shares of as few passes",
                    .default_text = "auto",
                    .choices = {"auto"},
                    .minimum = 1,
                    .maximum = 1e9});
  fields.push_back({.name = "prefetch",
                    .type = Type::integer,
                    .summary = "groups whose weights may be loaded ahead, as far as memory lets "
                               "them; 1 with overlap, else 0",
                    .optional = true,
                    .maximum = 1e6});
  return fields;
}

}  // namespace

extern const Policy streamed_policy;
const Policy streamed_policy = {
    .name = "streamed",
    .summary =
        "Groups of stages whose weights take turns on the device; many micro-batches run "
        "through a group for each load.",
    .source =
        "seed 000 (a model larger than its card); Sheng et al. 2023, FlexGen, section 4 (block "
        "schedule)",
    .parameters = parameters(),
    .plan = plan_streamed,
};

}  // namespace sluice
