// A plan describes an execution as plain data. Policies make plans, and executors execute them. Policies and
// executors do not know each other. All references are indices into the plan's own tables.
//
// A plan has three sections: the prologue, the body, which runs n times, and the epilogue. `actions` holds the
// actions of the sections one after the other. The order within a section is the *listing order*. Each stream
// executes its actions in this order. A pool that one device owns grants a request if all requests listed before it
// still fit (execute/reservation.hpp). Each stream goes through the iterations by itself: only waits and memory delay
// it.
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

/// A memory. A device may own several memories. In a pool that one device owns, a request may overtake earlier
/// requests if it fits together with all of them. A pool without an owner is shared: its requests are granted in the
/// order of their arrival. A pool may also be not enforced. Its requests are always granted, and the overflow is
/// reported.
struct Pool {
  std::string name;
  std::optional<std::int64_t> capacity;  ///< in bytes; empty if unlimited
  /// The device that owns the pool. Empty if no device owns it.
  std::string owner;
  bool enforced = true;
  /// The most bytes of the pool that the plan may use. If there is no limit, the plan may use the whole pool.
  std::optional<std::int64_t> limit = {};
  bool shared() const { return owner.empty(); }
  bool limited() const { return limit || (enforced && capacity); }
  /// Returns the most bytes that may be granted. Call this function only for a pool with a capacity.
  std::int64_t most() const {
    return !limit ? *capacity : enforced && capacity ? std::min(*limit, *capacity) : *limit;
  }
};

/// A bandwidth: one direction of a full-duplex link, a whole half-duplex link, or the read port or write port of a
/// memory. Flows share it by max-min fairness.
struct Link {
  std::string name;
  double bandwidth = 0;  ///< byte/s
  /// The power in watts. The busy power counts in proportion to the utilisation of the link.
  double idle_w = 0, busy_w = 0;
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A route: the links that a flow crosses.
struct Route {
  std::string name;
  std::vector<std::uint32_t> links;
  double setup_s = 0;  ///< the setup occupies the action's stream before the bytes flow
  /// The latency delays the arrival, but occupies neither the stream nor a link.
  double latency_s = 0;
};

enum class StreamKind : std::uint8_t { compute, copy };

/// A queue whose actions run in order. The idle and busy watts
/// of a device are stored with the device's compute stream.
struct Stream {
  std::string name;
  StreamKind kind = StreamKind::compute;
  std::string device;
  double idle_w = 0, busy_w = 0;
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A tensor that an action of the body allocates has one instance per iteration. Any other tensor has only one
/// instance. The `home` of a tensor is a pool that holds the tensor during the whole run. Actions may allocate more
/// instances in other pools. Host memory is the home of weights and of the inputs and outputs of a step. The home of
/// a cache is the memory of the device that reads it.
struct Tensor {
  std::string name;
  TensorClass tensor_class = TensorClass::activation;
  std::int64_t bytes = 0;
  std::uint32_t home = none;
};

/// A wait for an execution of `action`. If both actions are in the body, the execution `distance` iterations ago is
/// awaited. If there is no such iteration, the action does not wait. An action of the prologue has a single
/// execution, for which the body or the epilogue may wait. In the epilogue, a wait for an action of the body means
/// its execution in iteration n - 1 - distance. A wait for a dropped execution ends at once. A wait for a later
/// section is not allowed.
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

/// An operand of an action, and the pool that holds the operand. The access to the operand counts as one use of the
/// tensor's instance. The last use frees the instance.
struct Access {
  std::uint32_t tensor = none;
  std::uint32_t pool = none;
  bool read = true, written = false;
  Placement placement() const { return {tensor, pool}; }
  bool operator==(const Access&) const = default;
};

/// Bytes that flow over a route. A policy sets the pools at the ends of the route, and `lower` finds the route.
struct Flow {
  /// The tensor that moves. `none` if the bytes belong to no tensor.
  std::uint32_t tensor = none;
  std::uint32_t from = none, to = none;  ///< numbers of pools
  std::uint32_t route = none;
  std::int64_t bytes = 0;
  bool operator==(const Flow&) const = default;
};

/// A collective operation of several devices. Its parts are actions that hold its index in `collective`.
struct Collective {
  std::string name;
  ActionKind kind = ActionKind::all_reduce;
  std::string algorithm;             ///< "ring"
  std::vector<std::string> devices;  ///< the devices that take part
  /// The bytes that each device contributes or receives in total.
  std::int64_t bytes = 0;
};

/// The part of its stage's work that an action does. Without this field, the action's seconds could not be computed
/// again.
enum class WorkPart : std::uint8_t {
  whole,
  /// The layers that selective recomputation runs again: their outputs are large, but quick to compute.
  selective
};
inline constexpr int work_part_count = 2;
std::string_view name_of(WorkPart part);

/// One element of a stream. An action occupies its stream until its seconds have passed and all its flows have ended.
/// Its result is available later, after the longest latency of its flows. A transfer has one flow or several at once,
/// and no seconds. A computation may read over a link while it computes.
struct Action {
  /// The name is unique within its section. If `name` is empty, name_of() makes the name from stage, kind and
  /// micro-batch.
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

  // The following five numbers are for computations only. The function lower() sets them.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double flop = 0;
  double memory_bytes = 0;  ///< the bytes that the action reads and writes in the device's memory
  double joules = 0;        ///< the energy in addition to the energy of the idle device
  double measured_s = 0;    ///< the part of the seconds that comes from measurements

  /// The action does not start before this time, in seconds from the start of the run. In the body, this time is 0.
  double not_before = 0;

  Few<Wait, 2> waits;
  /// Tensors that the action writes. Their bytes are granted together, before the action starts.
  Few<Placement, 2> allocates;
  /// The operands. The end of the action counts as one use of each operand.
  Few<Access, 1> uses;

  /// An action of the body may work for another iteration. In iteration i, it uses the tensor instances of iteration
  /// i + ahead. If i + ahead is not between 0 and n - 1, there is no such iteration, and the execution is dropped. In
  /// the prologue, i counts as 0. In the epilogue, i counts as n. No action of the prologue or the epilogue is
  /// dropped.
  std::int32_t ahead = 0;

  bool is_transfer() const { return !flows.empty() && record_of(kind).transfers; }
  /// Returns the sum of the bytes of all flows.
  std::int64_t moved_bytes() const {
    std::int64_t bytes = 0;
    for (const Flow& flow : flows) bytes += flow.bytes;
    return bytes;
  }
  /// Returns the flow of a transfer that has only one flow. All transfers that PlanBuilder makes have only one flow.
  const Flow& flow() const { return flows.front(); }
};

/// Returns the action's own name or, if `name` is empty, `<stage><letter><micro-batch>`: 3F0, 1LOAD, 2SAVE7.
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
/// Returns the parts of a name, or nothing if the name is not made from stage, kind and micro-batch.
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

  /// The number of steps in one run of the body. A step may also be several runs of the body. `steps_per_iteration`
  /// is then 1, and `iterations_per_step` is the number of these runs. It divides `iterations`.
  std::int64_t steps_per_iteration = 1;
  std::int64_t iterations_per_step = 1;
  std::vector<std::string> stages;  ///< the names of the stages, indexed by stage number
  std::vector<Fact> facts;          ///< the decisions of the policy, for the report

  /// The text from which the plan was read, and the positions in it at which the lines of actions begin. Messages
  /// about the plan use both. A plan that a policy made has no text.
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
  /// Returns how many executions of the action are not dropped.
  std::int64_t executions_of(std::uint32_t action) const;
};

}  // namespace sluice
