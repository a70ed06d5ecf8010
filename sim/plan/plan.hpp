// A plan: what is to be executed, as plain data. Policies make it, the engine and the replay
// execute it; neither knows the other. Everything is an index into the plan's own tables.
//
// Sections: prologue, then the body n times, then the epilogue; `actions` holds them one after the
// other, and the order within a section is the *listing order*: each stream executes its actions in
// it, and a pool that is owned by one device leaves room for the requests listed before the one
// that it grants. Each stream walks through the iterations at its own pace; only waits and memory
// hold it back.
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

/// Written as `<stage><letter><micro-batch>`: 3F0, 1LOAD, 2SAVE7.
enum class ActionKind : std::uint8_t {
  forward,
  backward,
  backward_input,
  backward_weight,
  recompute,
  load,
  save,
  send,
  receive,
  all_reduce,
  update
};
inline constexpr int action_kind_count = 11;
std::string_view letter_of(ActionKind kind);  ///< F B I W R LOAD SAVE SEND RECV ALL_REDUCE UPDATE
std::string_view name_of(ActionKind kind);    ///< forward, backward, …

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// A memory. Owned by one device: a request may overtake those listed before it while all of them
/// would still fit beside it. Shared: first come, first served. Not enforced: always granted, the
/// overflow is reported.
struct Pool {
  std::string name;
  std::optional<std::int64_t> capacity;  ///< bytes; none: unlimited
  bool shared = false;
  bool enforced = true;
  /// The plan is made to use no more than so many bytes of it, and is granted no more; none: all.
  std::optional<std::int64_t> limit = {};
  bool limited() const { return limit || (enforced && capacity); }
  /// Bytes that may be granted. The pool is limited.
  std::int64_t most() const {
    return !limit ? *capacity : enforced && capacity ? std::min(*limit, *capacity) : *limit;
  }
};

/// What flows share max-min fairly: one direction of a full-duplex link, a whole half-duplex link,
/// or a memory's read or write port.
struct Link {
  std::string name;
  double bandwidth = 0;           ///< byte/s
  double idle_w = 0, busy_w = 0;  ///< W; busy power counts in proportion to the utilisation
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// The links that a transfer crosses.
struct Route {
  std::string name;
  std::vector<std::uint32_t> links;
  double setup_s = 0;    ///< occupies the stream before the bytes flow
  double latency_s = 0;  ///< delays the arrival, occupies nothing
};

enum class StreamKind : std::uint8_t { compute, copy };

/// An in-order queue. Its device's idle and busy watts stand on its compute stream.
struct Stream {
  std::string name;
  StreamKind kind = StreamKind::compute;
  std::string device;
  double idle_w = 0, busy_w = 0;
  bool has_watts() const { return idle_w > 0 || busy_w > 0; }
};

/// A tensor that a body action allocates has one instance an iteration; any other has one in all.
/// Its `home` is a pool that holds it from the start to the end of the run, beside what actions
/// allocate elsewhere: weights and a step's inputs and outputs in host memory, caches on the device
/// that reads them.
struct Tensor {
  std::string name;
  TensorClass tensor_class = TensorClass::activation;
  std::int64_t bytes = 0;
  std::uint32_t home = none;
};

/// Waits for `action` of `distance` iterations ago (body on body; before the first iteration: for
/// nothing). Body on prologue, and epilogue on prologue: its one execution. Epilogue on body: the
/// execution in iteration n - 1 - distance. A dropped execution is nothing to wait for. Never on a
/// later section.
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

/// One element of a stream.
struct Action {
  std::string name;  ///< unique in its section: 0F3
  ActionKind kind = ActionKind::forward;
  std::uint32_t stream = none;
  std::int32_t stage = -1;        ///< -1: of no stage
  std::int32_t micro_batch = -1;  ///< -1: of no micro-batch
  std::int64_t samples = 0;       ///< computed on by this action (compute)
  std::int64_t samples_done = 0;  ///< samples whose answer is complete when this ends

  // Transfers: the tensor that moves, from where, to where. `lower` finds the route.
  std::uint32_t moves = none;
  std::uint32_t from = none, to = none;  ///< pools
  std::uint32_t route = none;
  std::int64_t bytes = 0;

  // Compute, after `lower`.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double flop = 0;
  double memory_bytes = 0;  ///< read and written in the device's memory
  double joules = 0;        ///< above idle

  std::vector<Wait> waits;
  std::vector<Placement> allocates;  ///< granted before the start: all at once or none
  std::vector<Placement> uses;       ///< released at the end; the last use of an instance frees it

  /// A body action works in iteration i for iteration i + ahead: its tensors' instances are those
  /// of i + ahead, and where that is not one of 0..n-1 the action is dropped. In the prologue
  /// (epilogue) i counts as 0 (n), and nothing is dropped.
  std::int32_t ahead = 0;

  bool is_transfer() const { return moves != none; }
};

enum class Section : std::uint8_t { prologue, body, epilogue };
std::string_view name_of(Section section);

struct Plan {
  std::string name;
  std::vector<Pool> pools;
  std::vector<Link> links;
  std::vector<Route> routes;
  std::vector<Stream> streams;
  std::vector<Tensor> tensors;

  std::vector<Action> actions;  ///< prologue, body, epilogue
  std::uint32_t body_begin = 0, body_end = 0;
  std::int64_t iterations = 0;  ///< n; 0 where there is no body

  /// Steps of the workload in one run of the body; where a step is several runs of the body, this
  /// is 1 and `iterations_per_step` says how many, which divides `iterations`.
  std::int64_t steps_per_iteration = 1;
  std::int64_t iterations_per_step = 1;
  std::vector<std::string> stages;  ///< names, by stage number
  /// What the policy decided, for the report: {"in_flight", "587"}.
  std::vector<std::pair<std::string, std::string>> facts;

  /// The text it was read from and where each action's line begins there: for messages. Neither is
  /// there when a policy made it.
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
