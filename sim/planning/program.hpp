// A program lists, in order, the computations of one round. A program also lists every tensor that is on a
// device during some of these computations. Programs are made from stages, for inference and training. A
// program determines the bytes on each device at each moment. program_listing makes the plan from the program.
//
// A tensor may be on a device several times in a round: an activation may go to host memory and come back. A tensor may
// also be on several devices. Each stay of a tensor on a device is an instance. An instance begins with the operation
// that makes the tensor on the device or first needs it there. An instance ends with the last operation that needs it.
// A tensor that crosses several cuts is one instance. The number of stages between its maker and its readers does not
// matter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

struct Program {
  /// The role of a tensor that a memory holds during the whole run.
  enum class Home : std::uint8_t { none, input, weights, optimizer, gradients, other };

  struct Place {
    Home home = Home::other;
    /// For an input: the number of its micro-batch. For any other tensor: the number of its stage.
    std::int64_t number = 0;
    std::string name;
    TensorClass tensor_class = TensorClass::weight;
    std::int64_t bytes = 0;
    std::string node;  ///< the node that holds the tensor; empty means host memory
  };

  /// Weights that stay on their device. They are loaded once, before the first round. The gradients and the optimizer
  /// state of these weights also stay on this device, and are zeros at the start.
  struct Staying {
    std::uint32_t device = 0;
    std::int64_t weights = 0, gradients = 0, optimizer = 0;
  };

  struct Instance {
    std::string name;  ///< all instances of a tensor have the same name
    TensorClass tensor_class = TensorClass::activation;
    std::int64_t bytes = 0;
    std::int32_t stage = -1, micro_batch = -1;
    std::uint32_t device = 0;
    std::int64_t first = 0, last = -1;  ///< indices of operations
    bool loaded = false;                ///< whether a transfer brings the instance
    double load_s = 0;
    /// If the tensor is sent, the source of the load is the instance on the other device. Otherwise the source is a
    /// home, or the copy that the save of another instance left in host memory.
    Home home = Home::none;
    std::uint32_t copy_of = none;  ///< the index of an instance
    bool sent = false;
    /// The index of the instance's save among the saves of operation `saved_at`.
    std::uint32_t saves = none;
    /// The index of the operation after which the instance is saved. Without a save, the index is -1.
    std::int64_t saved_at = -1;
    bool saved_home = false;  ///< whether the save goes to the home of the tensor
    /// Whether the instance is an answer. The samples of an answer are done when its save has arrived.
    bool answer = false;
  };

  struct Operation {
    ActionKind kind = ActionKind::forward;
    std::int32_t stage = 0, micro_batch = -1;
    std::uint32_t device = 0;
    /// The index of a phase. With several devices, a phase begins when the previous phase has ended.
    std::int64_t phase = 0;
    double seconds = 0;      ///< the seconds of the operation, by which its loads are timed
    bool selective = false;  ///< whether only the selective part is recomputed
    bool ends_micro_batch = false;
    std::int64_t workspace = 0;
    std::vector<std::uint32_t> loads, makes, uses, saves;  ///< indices of instances
  };

  /// The operations between which a load may run, by their indices. A negative index means an
  /// operation of the previous round.
  struct Load {
    std::uint32_t instance = none;
    std::int64_t needed = 0;    ///< the operation that needs the instance
    std::int64_t earliest = 0;  ///< the first operation before which the load may be listed
    std::int64_t after = 0;     ///< the load may start when this operation has ended
  };

  std::vector<std::string> devices;
  std::vector<Place> places;
  std::vector<Staying> staying;  ///< indexed by stage; empty if weights take turns
  std::vector<Instance> instances;
  std::vector<Operation> operations;
  std::vector<Load> loads;  ///< the loads, in the order in which operations need them
  /// An operation that makes an answer waits for an earlier answer. The earlier answer is `answer_buffers`
  /// micro-batches older, and must be in host memory. If `answer_buffers` is 0, the operation does not wait.
  std::int64_t answer_buffers = 0;
  std::int64_t rounds = 1;           ///< the number of rounds of the run
  std::int64_t rounds_per_step = 1;  ///< a divisor of `rounds`
  std::int64_t passes = 0;           ///< the number of passes per batch in training

  std::int64_t count() const { return static_cast<std::int64_t>(operations.size()); }

  /// Returns the bytes that stay on a device during the whole run.
  std::int64_t constant_bytes(std::uint32_t device) const;
  /// Returns the bytes on a device during each operation, if one operation runs at a time. The result includes bytes
  /// that are on the device only for later operations.
  std::vector<std::int64_t> bytes(std::uint32_t device = 0) const;
  std::int64_t peak(std::uint32_t device = 0) const;
};

/// Returns a name such as "inner.3.1" for a tensor of a stage and a micro-batch. If `micro_batch` is -1, the name has
/// no micro-batch.
std::string instance_name(const std::string& what, std::size_t stage, std::int64_t micro_batch);

/// Adds one load for each instance that a transfer brings. Operation i needs the instance. The load is listed before
/// operation i, and starts after operation i - 1.
void load_when_needed(Program& program);

/// Finds the save for which a load must wait. A load must not read a home before the last save into this home has
/// ended.
class HomeWrites {
 public:
  explicit HomeWrites(const Program& program);
  struct Written {
    std::int64_t operation;
    std::size_t number;  ///< the index of the save among the saves of `operation`
    std::uint32_t rounds_ago;
  };
  /// Looks at the saves before `operation`, in this round and in the previous round. Returns the last save to the home
  /// of `instance`.
  std::optional<Written> before(std::uint32_t instance, std::int64_t operation) const;

 private:
  const Program& program_;
  std::map<std::pair<Program::Home, std::int32_t>, std::vector<Written>> writes_;
};

}  // namespace sluice
