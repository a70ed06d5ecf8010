// Builds a program (program.hpp) from operations and the instances that each operation loads, makes, uses and saves.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planning/program.hpp"

namespace sluice {

struct Platform;
struct PolicyRequest;
struct Round;
struct StageInput;
struct Workload;

class ProgramDraft {
 public:
  explicit ProgramDraft(std::vector<std::string> devices) { program.devices = std::move(devices); }

  /// Adds the tensors that host memory holds during the whole run: the inputs of a step, and with `answers` also the
  /// answers of a step.
  void hold_step(const PolicyRequest& request, bool answers);
  /// Adds the home of a stage's weights in host memory, if the stage has weights.
  void hold_weights(std::size_t stage, std::int64_t bytes);
  /// Adds a stage's cache of keys and values for `samples` samples, if the stage has a cache. `device` holds it during
  /// the whole run.
  void hold_cache(const PolicyRequest& request, std::size_t stage, std::int64_t samples,
                  const std::string& device);

  /// Returns the device of the operations and instances that are added next.
  std::uint32_t device() const { return device_; }
  void go_to(std::uint32_t device) { device_ = device; }
  void end_phase() { ++phase_; }

  /// Returns a new operation of the current phase. The caller must complete this operation and add it before the next
  /// call.
  Program::Operation operation(ActionKind kind, std::size_t stage) const;
  void add(Program::Operation operation) { program.operations.push_back(std::move(operation)); }
  /// Adds an operation that copies a tensor between two memories.
  void add(Program::Operation operation, const Program::Transfer& copy) {
    program.transfers[next()] = copy;
    add(std::move(operation));
  }
  /// From now on, all uses of the instance wait for the operation `came`, also for the latency of its flows.
  void comes_with(std::uint32_t instance, std::int64_t came) { came_with_[instance] = came; }
  /// Adds an operation that copies an instance, and so makes another one. The copy comes with this operation.
  void copy(Program::Operation operation, const Program::Transfer& copy);
  /// Makes an operation wait for the operation `on` of `rounds_ago` rounds ago.
  void wait(std::int64_t operation, std::int64_t on, std::uint32_t rounds_ago = 0) {
    program.waits.push_back({operation, on, rounds_ago});
  }
  std::int64_t next() const { return program.count(); }

  /// Adds an instance on device(). It is there from the next operation on.
  std::uint32_t make(const std::string& name, TensorClass tensor_class, std::int64_t bytes,
                     std::size_t stage, std::int64_t micro_batch);
  /// Returns the name of a tensor that stages read.
  static std::string name_of(const StageInput& input, std::int64_t micro_batch);
  /// Adds an instance whose name consists of `what`, the stage and the micro-batch. `what` must outlive the program.
  std::uint32_t make_numbered(const char* what, TensorClass tensor_class, std::int64_t bytes,
                              std::size_t stage, std::int64_t micro_batch);
  /// Adds an instance of the same tensor on device(), for this stage.
  std::uint32_t make_again(std::uint32_t other, std::size_t stage);
  /// Adds an instance of a tensor that stages read, for one micro-batch of `samples` samples.
  std::uint32_t make(const StageInput& input, std::int64_t samples, std::size_t stage,
                     std::int64_t micro_batch);
  /// Marks an instance as loaded, from its home or from a copy in host memory. If `copy_of` is given, this is the copy
  /// that the save of the instance `copy_of` left.
  void bring(std::uint32_t instance, double load_s, Program::Home home,
             std::uint32_t copy_of = none);
  /// Adds an instance on device(), which is sent there for this stage. `holders` has the instances of the tensor on
  /// other devices, in the order in which they came there. The device from which a copy takes the fewest seconds sends
  /// the tensor. Of equally fast devices, it is the one that has held it longest. Returns the new instance.
  std::uint32_t send(const Platform& platform, const std::vector<std::uint32_t>& holders,
                     std::size_t stage);
  /// These two functions are for the operation that is added next.
  void makes(Program::Operation& operation, std::uint32_t instance);
  void use(Program::Operation& operation, std::uint32_t instance);
  /// Saves an instance after `operation`, the index of an operation that has already been added.
  void save_after(std::uint32_t instance, std::int64_t operation);
  /// Saves an answer after the operation that was added last. Host memory holds the answers of a step (hold_step).
  void save_answer(std::uint32_t instance);
  /// Says that the program is this round, and how often it runs.
  void repeat(const Workload& workload, const Round& round);

  Program::Instance& operator[](std::uint32_t instance) { return program.instances[instance]; }

  Program program;

 private:
  std::uint32_t device_ = 0;
  std::int64_t phase_ = 0;
  std::map<std::uint32_t, std::int64_t> came_with_;  ///< by instance: the operation of comes_with()
};

}  // namespace sluice
