// A plan is plain data that describes what a run does. Policies make plans, and executors run them. Policies and
// executors know only plans, and not each other. All references in a plan are indices into the plan's own tables.
//
// A plan has three sections: the prologue, the body, and the epilogue. The body runs n times. `actions` holds the
// actions of the prologue, then those of the body, then those of the epilogue. Their order within a section is the
// *listing order*. Each stream executes its actions in this order. If one device owns a pool, the pool grants a request
// only if all requests that are listed before it still fit (execute/reservation.hpp). Each stream goes through the
// iterations at its own pace: only waits and memory delay it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/few.hpp"
#include "plan/fact.hpp"
#include "plan/kinds.hpp"

namespace sluice {

struct Source;

enum class TensorClass : std::uint8_t {
  weight,
  gradient,
  optimizer,
  activation,
  workspace,
  input,
  output,
  kv_cache  ///< keys and values of earlier tokens
};
inline constexpr int tensor_class_count = 8;
std::string_view name_of(TensorClass tensor_class);

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// A memory. A device may own several memories. If one device owns a pool, a request may be granted before requests
/// that are listed earlier. For this, the pool must have room for all of them together. A pool without an owner is
/// shared: it grants requests in the order of their arrival. If a pool is not enforced, its requests are always
/// granted, and an overflow is only reported.
struct Pool {
  std::string name;
  std::optional<std::int64_t> capacity;  ///< in bytes; empty if unlimited
  /// The device that owns the pool. Empty if the pool is shared.
  std::string owner;
  bool enforced = true;
  /// The largest number of bytes that the plan may use in the pool. Without a limit, the plan may use the whole pool.
  std::optional<std::int64_t> limit = {};
  bool shared() const { return owner.empty(); }
  bool limited() const { return limit || (enforced && capacity); }
  /// Returns the largest number of bytes that may be granted. Call this function only for a pool with a capacity or a
  /// limit.
  std::int64_t most() const {
    return !limit ? *capacity : enforced && capacity ? std::min(*limit, *capacity) : *limit;
  }
};

/// A channel for bytes: one direction of a full-duplex link, a whole half-duplex link, or the read port or write port
/// of a memory. The flows on a link share its bandwidth by max-min fairness.
struct Link {
  std::string name;
  double bandwidth = 0;  ///< byte/s
  /// The power of the link in watts: when no bytes flow, and when the whole bandwidth is used. Between the two, the
  /// power grows in proportion to the utilisation of the link.
  double idle_w = 0, busy_w = 0;
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A route: the links that a flow crosses.
struct Route {
  std::string name;
  std::vector<std::uint32_t> links;
  double setup_s = 0;  ///< the setup occupies the action's stream before the bytes flow
  /// The latency delays the arrival of the bytes. It occupies no stream and no link.
  double latency_s = 0;
};

enum class StreamKind : std::uint8_t { compute, copy };

/// A queue of actions, which run one after the other. A device's compute stream has the idle and busy watts of the
/// device.
struct Stream {
  std::string name;
  StreamKind kind = StreamKind::compute;
  std::string device;
  double idle_w = 0, busy_w = 0;
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A tensor. If an action of the body allocates a tensor, the tensor has one instance per iteration. Otherwise it has
/// only one instance. `home` is a pool that holds the tensor during the whole run. Actions may also allocate the tensor
/// in other pools. Host memory is the home of weights, and of the inputs and outputs of a step. The home of a cache of
/// keys and values is the memory of the device that reads the cache.
struct Tensor {
  std::string name;
  TensorClass tensor_class = TensorClass::activation;
  std::int64_t bytes = 0;
  std::uint32_t home = none;
  /// The stage whose gradients of weights are summed in this tensor, or -1. A plan that was read from text has -1.
  std::int32_t gradients_of = -1;
  std::uint32_t part = 0;  ///< the part of a merged plan (passes/merge.hpp) to which the tensor belongs
};

/// A wait for an execution of `action`. If `action` and the action that waits are both in the body, the wait is for
/// the execution of `distance` iterations ago. If there is no such iteration, the action does not wait. An action of
/// the prologue has a single execution, for which actions of all sections may wait. In the epilogue, a wait for an
/// action of the body is for its execution in iteration n - 1 - distance, where n is the number of iterations. A wait
/// for a dropped execution ends at once. An action must not wait for an action of a later section.
struct Wait {
  std::uint32_t action = none;
  std::uint32_t distance = 0;
  bool operator==(const Wait&) const = default;
};

/// An instance of a tensor in a pool.
struct Placement {
  std::uint32_t tensor = none;
  std::uint32_t pool = none;
  bool operator==(const Placement&) const = default;
};

/// An operand of an action, and the pool that holds the operand. The access counts as one use of the tensor's instance.
/// The end of the last use frees the instance. If `distance` is not 0, the instance is that of `distance` iterations
/// before the iteration for which the action works (Action::ahead).
struct Access {
  std::uint32_t tensor = none;
  std::uint32_t pool = none;
  bool read = true, written = false;
  std::uint16_t distance = 0;
  Placement placement() const { return {tensor, pool}; }
  bool operator==(const Access&) const = default;
};

/// Bytes that flow over a route. A policy sets the pools `from` and `to`. Then lower() finds the route between them
/// (planning/lower.hpp).
struct Flow {
  /// The tensor that is moved, or `none` if the bytes belong to no tensor.
  std::uint32_t tensor = none;
  std::uint32_t from = none, to = none;  ///< numbers of pools
  std::uint32_t route = none;
  std::int64_t bytes = 0;
  bool operator==(const Flow&) const = default;
};

/// An operation that several devices do together. Its parts are actions: their `collective` is the index of this
/// operation.
struct Collective {
  std::string name;
  ActionKind kind = ActionKind::all_reduce;
  std::string algorithm;             ///< "ring"
  std::vector<std::string> devices;  ///< the devices that take part
  /// The bytes that each device contributes or gets, in all actions of the collective together.
  std::int64_t bytes = 0;
};

/// The part of its stage's work that an action does. The part must be known when a plan is priced again.
enum class WorkPart : std::uint8_t {
  whole,
  /// The forward pass of only those layers that selective recomputation runs again. The tensors that these layers keep
  /// are large, but quick to compute.
  selective
};
inline constexpr int work_part_count = 2;
std::string_view name_of(WorkPart part);

/// A computation or a transfer. An action occupies its stream until its seconds have passed and all its flows have
/// ended. Its data arrive later: after the longest latency of its flows. A transfer has no seconds. It has one
/// flow, or several flows that run at the same time. A computation may have flows, too: it reads over a link while
/// it computes.
struct Action {
  /// The name of the action, unique within its section. If `name` is empty, name_of() makes the name from stage, kind
  /// and micro-batch.
  std::string name;
  ActionKind kind = ActionKind::forward;
  WorkPart part = WorkPart::whole;
  std::uint32_t stream = none;
  std::int32_t stage = -1;          ///< -1 if the action belongs to no stage
  std::int32_t micro_batch = -1;    ///< -1 if the action belongs to no micro-batch
  std::uint32_t collective = none;  ///< the collective of which the action is a part
  std::int64_t samples = 0;         ///< the number of samples that a computation computes
  /// The number of samples whose answers are complete when this action ends.
  std::int64_t samples_done = 0;

  Few<Flow, 1> flows;

  // Only computations have the following five numbers. lower() sets them.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double flop = 0;
  double memory_bytes = 0;  ///< the bytes that the action reads and writes in the device's memory
  double joules = 0;        ///< the energy in addition to the energy of the idle device
  double measured_s = 0;    ///< the part of the seconds that comes from measurements

  /// A time, in seconds from the start of the run. The action does not start before this time. For actions of the body,
  /// it is 0.
  double not_before = 0;

  Few<Wait, 2> waits;
  /// Tensors for which the action needs bytes in a pool. All these bytes are granted together, before the action
  /// starts.
  Few<Placement, 2> allocates;
  /// The operands of the action. When the action ends, one use of each operand ends.
  Few<Access, 1> uses;

  /// An action of the body may work for another iteration: in iteration i, it uses the instances of tensors of
  /// iteration i + ahead. If i + ahead is not from 0 to n - 1, the run has no such iteration, and the execution is
  /// dropped. In the prologue, i counts as 0, and in the epilogue as n. Executions of the prologue and the epilogue are
  /// never dropped.
  std::int32_t ahead = 0;

  bool is_transfer() const { return !flows.empty() && record_of(kind).transfers; }
  /// Returns the sum of the bytes of all flows of the action.
  std::int64_t moved_bytes() const {
    std::int64_t bytes = 0;
    for (const Flow& flow : flows) bytes += flow.bytes;
    return bytes;
  }
  /// Returns the first flow. Call this function only for an action with one flow, such as each transfer that
  /// PlanBuilder makes.
  const Flow& flow() const { return flows.front(); }
};

/// Returns the name of the action. If `name` is empty, the name is `<stage><letter><micro-batch>`, such as 3F0, 1LOAD
/// or 2SAVE7.
std::string name_of(const Action& action);

/// The parts of a name such as 3F0: stage, kind and micro-batch.
struct FormulaName {
  ActionKind kind = ActionKind::forward;
  std::int32_t stage = -1, micro_batch = -1;
  bool operator==(const FormulaName&) const = default;
  struct Hash {
    std::size_t operator()(const FormulaName& name) const {
      const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(name.stage)} << 32 |
                                static_cast<std::uint32_t>(name.micro_batch);
      return (key * 31 + static_cast<std::uint64_t>(name.kind)) * 0x9E3779B97F4A7C15U >> 8;
    }
  };
};
/// Returns the stage, kind and micro-batch of a name such as 3F0. Returns nothing for a name that does not have this
/// form.
std::optional<FormulaName> formula_of(std::string_view name);

enum class Section : std::uint8_t { prologue, body, epilogue };
std::string_view name_of(Section section);

struct Plan {
  std::string name;
  std::vector<Pool> pools;
  std::vector<Link> links;
  std::vector<Route> routes;
  std::vector<Stream> streams;
  std::vector<Tensor> tensors;
  std::vector<Collective> collectives;

  std::vector<Action> actions;  ///< prologue, body, epilogue
  std::uint32_t body_begin = 0, body_end = 0;
  std::int64_t iterations = 0;  ///< the number n of runs of the body; 0 if there is no body

  /// The number of steps in one run of the body. If a step is several runs of the body, `steps_per_iteration` is 1, and
  /// `iterations_per_step` is the number of these runs. `iterations` is a multiple of `iterations_per_step`.
  std::int64_t steps_per_iteration = 1;
  std::int64_t iterations_per_step = 1;
  std::vector<std::string> stages;  ///< the names of the stages, indexed by stage number
  std::vector<Fact> facts;          ///< the decisions of the policy, for the report

  /// The text from which the plan was read, and the positions in the text at which the lines of actions begin. Messages
  /// about the plan point to places in this text. A plan that a policy made has no text.
  std::shared_ptr<const Source> source;
  std::vector<std::size_t> line_begins;

  Section section_of(std::uint32_t action) const {
    return action < body_begin ? Section::prologue
           : action < body_end ? Section::body
                               : Section::epilogue;
  }
  std::uint32_t section_begin(Section section) const {
    return section == Section::prologue ? 0 : section == Section::body ? body_begin : body_end;
  }
  std::uint32_t section_end(Section section) const {
    return section == Section::prologue ? body_begin
           : section == Section::body   ? body_end
                                        : static_cast<std::uint32_t>(actions.size());
  }
  /// Returns how often the action is executed. Dropped executions do not count.
  std::int64_t executions_of(std::uint32_t action) const;
};

}  // namespace sluice
