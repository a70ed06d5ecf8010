// A program lists, in order, the computations of one round. A program also lists every tensor that is on a device
// during some of these computations. So a program determines how many bytes each device holds at each moment. Programs
// are made from stages, for inference and training. program_listing.hpp makes a plan from a program.
//
// A program may also place single tensors in several memories. Its operations are then kernels of layers, and the
// transfers between these memories.
//
// A tensor may be on a device several times in a round: an activation may go to host memory and come back. A tensor may
// also be on several devices. Each stay of a tensor on a device is an instance. An instance begins with the operation
// that makes the tensor on the device, or with the first operation that needs the loaded tensor there. It ends with the
// last operation that needs it. A tensor may be made in one stage and read in several later stages: it is still one
// instance.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/few.hpp"
#include "plan/plan.hpp"

namespace sluice {

struct Program {
  /// The role of a tensor that a memory holds during the whole run, such as the weights of a stage.
  enum class Home : std::uint8_t { none, input, weights, optimizer, gradients, other };

  struct Place {
    Home home = Home::other;
    /// For an input: the number of its micro-batch. For any other tensor: the number of its stage.
    std::int64_t number = 0;
    std::int32_t piece =
        0;  ///< if the weights of a stage are loaded in pieces: the index of the piece
    std::string name;
    TensorClass tensor_class = TensorClass::weight;
    std::int64_t bytes = 0;
    std::string node;  ///< the node that holds the tensor; empty means host memory
  };

  /// The bytes of a stage that stay on a device during the whole run. The weights are loaded once, before the first
  /// round. The gradients and the optimizer state of these weights are zeros at the start.
  struct Staying {
    std::uint32_t device = 0;
    std::int64_t weights = 0, gradients = 0, optimizer = 0;
  };

  struct Instance {
    /// All instances of a tensor have the same name: name_of() returns it. If `what` is given, the name consists of
    /// `what`, the stage and the micro-batch, and `name` is empty. A step has many names, and most are never needed.
    std::string name;
    const char* what = nullptr;
    TensorClass tensor_class = TensorClass::activation;
    std::int64_t bytes = 0;
    std::int32_t stage = -1, micro_batch = -1;
    std::uint32_t device = 0;           ///< the index of a device, or of another memory (node)
    std::int32_t piece = 0;             ///< Place::piece of its home
    std::int64_t first = 0, last = -1;  ///< indices of operations
    bool held = false;    ///< whether the memory holds the tensor during the whole run (Place)
    bool loaded = false;  ///< whether a transfer brings the instance
    double load_s = 0;
    /// The source of the load. If `copy_of` is none, it is the tensor's home. If `sent`, it is the instance `copy_of`,
    /// which is on another device. Otherwise it is the copy that the save of `copy_of` left in host memory.
    Home home = Home::none;
    std::uint32_t copy_of = none;  ///< the index of an instance
    bool sent = false;
    /// The index of the instance's save among the saves of operation `saved_at`.
    std::uint32_t saves = none;
    /// The index of the operation after which the instance is saved, or -1 if the instance is not saved.
    std::int64_t saved_at = -1;
    bool saved_next_round = false;  ///< whether the operation `saved_at` belongs to the next round
    /// Whether the save may start when the phase of the operation `saved_at` starts. If not, it starts after the
    /// operation.
    bool saved_with_phase = false;
    bool saved_home = false;  ///< whether the save goes to the home of the tensor
    /// Whether the instance is an answer. If so, its samples are done when its save has arrived in host memory.
    bool answer = false;
  };

  struct Operation {
    ActionKind kind = ActionKind::forward;
    std::int32_t stage = 0, micro_batch = -1;
    std::uint32_t device = 0;
    /// The index of the operation's phase. With several devices, or with `phases_in_turn`, a phase begins when the
    /// previous phase has ended.
    std::int64_t phase = 0;
    double seconds = 0;      ///< the seconds of the operation, which decide when loads start
    bool selective = false;  ///< whether only the selective part is recomputed
    bool ends_micro_batch = false;
    std::int64_t workspace = 0;
    Few<std::uint32_t, 4> loads, makes, uses, saves;  ///< indices of instances
  };

  /// A load, and the indices of the operations between which it may run. A negative index means an operation of the
  /// previous round.
  struct Load {
    std::uint32_t instance = none;
    std::int64_t needed = 0;    ///< the operation that needs the instance
    std::int64_t earliest = 0;  ///< the first operation before which the load may be listed
    std::int64_t after = 0;     ///< the load may start when this operation has ended
    bool placed = false;        ///< whether the load is listed before `earliest`, and not later
    /// Whether the instance stays on the device. If so, it is loaded before the first round, and `earliest` is its place
    /// among the loads there. The instance must be there from the first to the last operation.
    bool once = false;
    /// A save after which the load starts, `rounds_ago` rounds ago.
    struct Saved {
      std::uint32_t instance = none;
      std::uint32_t rounds_ago = 0;
    } after_save = {};
    /// If given: the first operation of a phase. The load may not start before this phase.
    std::optional<std::int64_t> with = {};
  };

  /// The operation `operation`, and all later operations of its phase, wait for the save of `instance` of `rounds_ago`
  /// rounds ago.
  struct SaveWait {
    std::int64_t operation = 0;
    std::uint32_t instance = none;
    std::uint32_t rounds_ago = 0;
  };

  /// One transfer may save several tensors together, as a single instance. In host memory, each of them is then a copy
  /// of its own. One transfer may also load several copies together, of saves of different instances.
  struct Copy {
    std::string name;
    std::int64_t bytes = 0;
  };
  struct CopyRead {
    std::uint32_t instance = none;  ///< the instance that was saved
    std::size_t number = 0;         ///< the index of the copy among those of this save
  };

  /// An operation that copies a tensor from one memory to another. It is listed in its place among all operations.
  struct Transfer {
    std::uint32_t from = none,
                  to = none;      ///< instances; `none` is the tensor's home in host memory
    bool synchronous = false;     ///< whether the compute units of the device make the copy
    bool for_next_round = false;  ///< whether the next round needs the copy
  };

  /// The operation `operation` waits for the operation `on` of `rounds_ago` rounds ago.
  struct Wait {
    std::int64_t operation = 0, on = 0;
    std::uint32_t rounds_ago = 0;
  };

  /// The operation writes the instance. If the instance is not among its `uses`, it does not read the instance.
  struct Write {
    std::int64_t operation = 0;
    std::uint32_t instance = none;
  };

  std::vector<std::string> devices;
  /// Other memories that hold instances. Among all memories, they come after the first memories of `devices`.
  std::vector<std::string> memories;
  std::vector<Place> places;
  /// Indexed by stage. If the weights of a stage take turns, its bytes are 0. If the weights of all stages take turns, the
  /// list may be empty.
  std::vector<Staying> staying;
  std::vector<Instance> instances;
  std::vector<Operation> operations;
  std::vector<Load> loads;  ///< the loads, in the order in which operations need them
  std::vector<SaveWait> save_waits;
  std::map<std::int64_t, Transfer> transfers;  ///< by index of the operation
  std::vector<Wait> waits;    ///< waits that do not follow from the order of the operations
  std::vector<Write> writes;  ///< what operations say about the tensors that they write
  /// By instance: the copies that its save leaves. The operation saves no other instance. If an instance is missing, its
  /// save leaves one copy.
  std::map<std::uint32_t, std::vector<Copy>> saved_together;
  /// By loaded instance: the copies that its load reads. If an instance is missing, Instance::copy_of says what it reads.
  std::map<std::uint32_t, std::vector<CopyRead>> read_together;
  bool phases_in_turn =
      false;  ///< whether phases begin one after the other, even on a single device
  /// The number of operations at the end of `operations` that run once, after the last round. Their loads are `placed`.
  std::int64_t rest = 0;
  /// The number of answers that may be on the device. An operation that makes an answer waits until the answer of
  /// `answer_buffers` micro-batches ago is in host memory. If `answer_buffers` is 0, the operation does not wait.
  std::int64_t answer_buffers = 0;
  std::int64_t rounds = 1;           ///< the number of rounds of the run
  std::int64_t rounds_per_step = 1;  ///< a divisor of `rounds`
  std::int64_t steps_per_round = 1;  ///< 1 if a step has several rounds
  std::int64_t passes = 0;           ///< the number of passes per batch in training

  /// In training, the number of micro-batches of a pass, and of the passes that the program leaves out
  /// (StepShape::more_passes).
  std::int64_t in_flight = 1, more_passes = 0;
  std::int64_t left_out = 0;  ///< the number of operations of these passes

  std::int64_t count() const { return static_cast<std::int64_t>(operations.size()); }
  /// Returns the number of operations, also of those that are left out.
  std::int64_t count_of_all() const { return count() + left_out; }
  std::int64_t count_of_round() const { return count() - rest; }
  /// Returns the name of the device or memory with this index.
  const std::string& node(std::uint32_t device) const {
    return device < devices.size() ? devices[device] : memories[device - devices.size()];
  }
  /// Returns, indexed by the stages of `staying`, the index of the first operation of the stage, or count() if the stage
  /// has none.
  std::vector<std::int64_t> first_of_stages() const;

  /// Returns how many bytes stay on the device during the whole run.
  std::int64_t constant_bytes(std::uint32_t device) const;
  /// Returns, indexed by operation, the bytes on the device during the operation if no other operation runs. Bytes that
  /// only wait there for a later operation count, too.
  std::vector<std::int64_t> bytes(std::uint32_t device = 0) const;
  std::int64_t peak(std::uint32_t device = 0) const;
};

/// Returns a name such as "inner.3.1" for a tensor of a stage and a micro-batch. If `micro_batch` is -1, the name has
/// no micro-batch.
std::string instance_name(const std::string& what, std::size_t stage, std::int64_t micro_batch);
std::string name_of(const Program::Instance& instance);

/// Returns one load for each instance that a transfer brings. If operation i needs the instance, the load is listed
/// before operation i, and starts after operation i - 1.
std::vector<Program::Load> loads_when_needed(const Program& program);

/// Finds for a load the save for which it must wait: a load from a home must not start before the last save into this
/// home has ended.
class HomeWrites {
 public:
  explicit HomeWrites(const Program& program);
  struct Written {
    std::int64_t operation;
    std::size_t number;  ///< the index of the save among the saves of `operation`
    std::uint32_t rounds_ago;
  };
  /// Returns the last save into the home of `instance` before `operation`, in this round or in the previous round.
  std::optional<Written> before(std::uint32_t instance, std::int64_t operation) const;

 private:
  const Program& program_;
  std::map<std::pair<Program::Home, std::int32_t>, std::vector<Written>> writes_;
};

}  // namespace sluice
