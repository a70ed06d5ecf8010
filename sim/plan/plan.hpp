// A plan says what is to be executed, as plain data. Policies make it, and the executors execute
// it; neither knows the other. Everything is an index into the plan's own tables.
//
// Sections: the prologue, then the body n times, then the epilogue. `actions` holds them one after
// the other, and the order within a section is the *listing order*: each stream executes its
// actions in this order, and a pool that one device owns leaves room for the requests that are
// listed before the one that it grants. Each stream walks through the iterations at its own pace;
// only waits and memory hold it back.
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
  kv_cache  ///< keys and values of tokens that came before
};
inline constexpr int tensor_class_count = 8;
std::string_view name_of(TensorClass tensor_class);

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// A memory. A device may own several. If one device owns it, a request may overtake those listed
/// before it as long as all of them would still fit beside it. If none owns it, it is shared: first
/// come, first served. If it is not enforced, requests are always granted, and the overflow is
/// reported.
struct Pool {
  std::string name;
  std::optional<std::int64_t> capacity;  ///< bytes; none: unlimited
  std::string owner;                     ///< a device; empty: none
  bool enforced = true;
  /// The plan is made to use no more than this many bytes of it, and is granted no more; none: all.
  std::optional<std::int64_t> limit = {};
  bool shared() const { return owner.empty(); }
  bool limited() const { return limit || (enforced && capacity); }
  /// The bytes that may be granted. The pool must be limited.
  std::int64_t most() const {
    return !limit ? *capacity : enforced && capacity ? std::min(*limit, *capacity) : *limit;
  }
};

/// Something that flows share max-min fairly: one direction of a full-duplex link, a whole
/// half-duplex link, or the read or write port of a memory.
struct Link {
  std::string name;
  double bandwidth = 0;           ///< byte/s
  double idle_w = 0, busy_w = 0;  ///< W; busy power counts in proportion to the utilisation
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A route: the links that a flow crosses.
struct Route {
  std::string name;
  std::vector<std::uint32_t> links;
  double setup_s = 0;    ///< occupies the stream before its bytes flow
  double latency_s = 0;  ///< delays the arrival, occupies nothing
};

enum class StreamKind : std::uint8_t { compute, copy };

/// An in-order queue. The idle and busy watts of its device are given on the device's compute
/// stream.
struct Stream {
  std::string name;
  StreamKind kind = StreamKind::compute;
  std::string device;
  double idle_w = 0, busy_w = 0;
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A tensor that an action of the body allocates has one instance per iteration; any other tensor
/// has one instance in all. Its `home` is a pool that holds it from the start to the end of the
/// run, beside what actions allocate elsewhere: weights and a step's inputs and outputs in host
/// memory, caches on the device that reads them.
struct Tensor {
  std::string name;
  TensorClass tensor_class = TensorClass::activation;
  std::int64_t bytes = 0;
  std::uint32_t home = none;
};

/// A wait for `action` as executed `distance` iterations ago (an action of the body for one of the
/// body; before the first iteration there is nothing to wait for). From body or epilogue to
/// prologue: its single execution. From epilogue to body: the execution in iteration n - 1 -
/// distance. A dropped execution is nothing to wait for. A wait for a later section is not allowed.
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

/// An operand of an action, and the pool that holds it. It counts as one use of the instance: the
/// last use of an instance frees it.
struct Access {
  std::uint32_t tensor = none;
  std::uint32_t pool = none;
  bool read = true, written = false;
  Placement placement() const { return {tensor, pool}; }
  bool operator==(const Access&) const = default;
};

/// Bytes that flow over a route. A policy gives the pools at its ends; `lower` finds the route.
struct Flow {
  std::uint32_t tensor = none;           ///< the tensor that moves; none: the bytes belong to no
                                         ///< tensor
  std::uint32_t from = none, to = none;  ///< pools
  std::uint32_t route = none;
  std::int64_t bytes = 0;
  bool operator==(const Flow&) const = default;
};

/// A collective operation of several devices. Its parts are actions that refer to it.
struct Collective {
  std::string name;
  ActionKind kind = ActionKind::all_reduce;
  std::string algorithm;             ///< "ring"
  std::vector<std::string> devices;  ///< the devices that take part
  std::int64_t bytes = 0;            ///< bytes that each device contributes or receives in all
};

/// The part of its stage's work that an action does, so that it can be priced again.
enum class WorkPart : std::uint8_t {
  whole,
  selective  ///< what selective recomputation drops: large, and quick to compute again
};
inline constexpr int work_part_count = 2;
std::string_view name_of(WorkPart part);

/// One element of a stream. It occupies its stream until its seconds have passed and all its flows
/// have arrived; its result is available the longest latency of its flows later. A transfer is one
/// flow (or several at once) without seconds; a computation may read over a link while it computes.
struct Action {
  /// Unique within its section. Empty: name_of() makes it from stage, kind and micro-batch.
  std::string name;
  ActionKind kind = ActionKind::forward;
  WorkPart part = WorkPart::whole;
  std::uint32_t stream = none;
  std::int32_t stage = -1;          ///< -1: of no stage
  std::int32_t micro_batch = -1;    ///< -1: of no micro-batch
  std::uint32_t collective = none;  ///< the collective of which it is a part
  std::int64_t samples = 0;         ///< samples on which this action computes (compute)
  std::int64_t samples_done = 0;    ///< samples whose answers are complete when this action ends

  Few<Flow, 1> flows;

  // Compute, after `lower`.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double flop = 0;
  double memory_bytes = 0;  ///< bytes read and written in the device's memory
  double joules = 0;        ///< above idle power
  double measured_s = 0;    ///< the part of the seconds that rests on measurements

  double not_before = 0;  ///< seconds from the start of the run; only in prologue and epilogue

  Few<Wait, 2> waits;
  Few<Placement, 2> allocates;  ///< granted before the start, all at once or none; the action
                                ///< writes them
  Few<Access, 1> uses;          ///< released at the end

  /// In iteration i an action of the body works for iteration i + ahead: the instances of its
  /// tensors are those of i + ahead, and where that is not one of 0..n-1 the action is dropped. In
  /// the prologue i counts as 0, in the epilogue as n, and nothing is dropped.
  std::int32_t ahead = 0;

  bool is_transfer() const { return !flows.empty() && record_of(kind).transfers; }
  /// The bytes that it moves in all.
  std::int64_t moved_bytes() const {
    std::int64_t bytes = 0;
    for (const Flow& flow : flows) bytes += flow.bytes;
    return bytes;
  }
  /// Its only flow. For transfers that move one tensor, like those of the builder.
  const Flow& flow() const { return flows.front(); }
};

/// `<stage><letter><micro-batch>`: 3F0, 1LOAD, 2SAVE7; or its own name.
std::string name_of(const Action& action);

/// Makes the name by the formula.
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
/// None: the formula does not make such a name.
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
  std::int64_t iterations = 0;  ///< n; 0 where there is no body

  /// The steps of the workload in one run of the body. Where a step consists of several runs of the
  /// body, this is 1, and `iterations_per_step` is their number, which divides `iterations`.
  std::int64_t steps_per_iteration = 1;
  std::int64_t iterations_per_step = 1;
  std::vector<std::string> stages;  ///< names, by stage number
  std::vector<Fact> facts;          ///< what the policy decided, for the report

  /// The text from which it was read, and where the line of each action begins, for messages. Both
  /// are absent when a policy made the plan.
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
  std::int64_t executions_of(
      std::uint32_t action) const;  ///< how often it runs (dropped ones left out)
};

}  // namespace sluice
