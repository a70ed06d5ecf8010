// The builder with which policies make plans. The builder knows a platform's pools, links and streams by name, and
// appends actions in listing order.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// The greatest number of actions that a plan may list. More actions would fill the memory of the computer that runs
/// Sluice.
inline constexpr std::int64_t most_actions = 4'000'000;
/// Throws Infeasible when a plan would have more than `most_actions` actions. `actions` is a lower bound of the number
/// of actions that the plan would have.
void refuse_long_plan(std::int64_t actions);
/// Makes the check of refuse_long_plan(). A round has `micro_batches` micro-batches, with at least `actions_each`
/// actions for each of them.
void refuse_long_round(std::int64_t micro_batches, std::size_t actions_each);

class PlanBuilder {
 public:
  /// A handle of an action. finish() replaces handles by the indices of the actions in the plan.
  struct Ref {
    Section section = Section::prologue;
    std::uint32_t position = none;
    explicit operator bool() const { return position != none; }
  };

  /// Makes pools for all devices and memories, and links for all channels. Streams are made when
  /// they are first used.
  PlanBuilder(const Platform& platform, std::string name, bool enforce_capacity);

  std::uint32_t pool(const std::string& node) const;
  /// Adds a tensor. `home` is the node whose memory holds the tensor during the whole run. It is empty if the tensor
  /// has no home. If another tensor already has the name, the builder appends '2, '3 … to the name of the new tensor.
  std::uint32_t tensor(std::string name, TensorClass tensor_class, std::int64_t bytes,
                       const std::string& home = "");

  std::int64_t bytes_of(std::uint32_t tensor) const { return plan_.tensors[tensor].bytes; }

  /// All actions that are added after this call belong to this section.
  void enter(Section section) { section_ = section; }
  Section section() const { return section_; }
  /// Adds a computation on a device. lower() sets its seconds.
  Ref compute(ActionKind kind, const std::string& device, std::int32_t stage,
              std::int32_t micro_batch, std::int64_t samples);
  /// The two ends of a transfer that moves a tensor between the memories of two nodes. The copy engine of the route
  /// between the two nodes makes the transfer. With `release`, the transfer releases the tensor in the source. With
  /// `allocate`, the transfer allocates the tensor in the destination.
  struct TransferEnds {
    std::string from, to;
    bool release = true, allocate = true;
    /// If true, the compute units of the device make the copy. They compute nothing during the copy: the builder adds
    /// waits for this.
    bool synchronous = false;
  };
  Ref transfer(ActionKind kind, std::uint32_t tensor, const TransferEnds& ends, std::int32_t stage,
               std::int32_t micro_batch);

  /// While the computation `ref` runs, it reads (or writes) `bytes` bytes of the tensor over links.
  void flow(Ref ref, std::uint32_t tensor, const std::string& from, const std::string& to,
            std::int64_t bytes);
  /// Adds a memory to a device, in addition to the memory with the name of the device.
  void memory(const std::string& name, const std::string& device,
              std::optional<std::int64_t> capacity);
  /// Adds a private link from one pool to another, in addition to the links of the platform. Transfers over this link
  /// have their own stream.
  void way(const std::string& from, const std::string& to, double bandwidth, double setup_s,
           double latency_s);
  /// Adds a collective operation of several devices. Returns the index by which the operation's actions refer to it.
  std::uint32_t collective(Collective collective);

  Action& at(Ref ref) { return actions_[static_cast<std::size_t>(ref.section)][ref.position]; }
  /// Makes the action `ref` wait for the action `on` of `distance` iterations ago. Does nothing if `on` is empty.
  void wait(Ref ref, Ref on, std::uint32_t distance = 0);
  void fact(Fact fact) { plan_.facts.push_back(std::move(fact)); }

  Plan finish(std::int64_t iterations, std::int64_t steps_per_iteration = 1);

 private:
  std::int64_t added_ = 0;
  struct Link {
    Ref from, to;
    std::uint32_t distance;
  };
  std::uint32_t stream(const std::string& name, StreamKind kind, const std::string& device);
  std::uint32_t synchronous_route(const Path& path);
  void take_turn(Ref ref, std::uint32_t units, bool copies);
  void close_turns();
  Ref add(Action action);
  std::string own_name(const Action& action);
  std::string unique_name(std::string tensor);

  /// An action of a device's compute units, and whether it is a copy. Computations and synchronous
  /// copies of the same units run one after the other.
  struct Turn {
    Ref ref;
    bool copies = false;
  };
  struct Turns {
    Turn last, first_of_body, last_of_body;
  };

  const Platform& platform_;
  Plan plan_;
  Section section_ = Section::prologue;
  std::array<std::vector<Action>, 3> actions_;
  std::array<std::unordered_map<FormulaName, int, FormulaName::Hash>, 3> names_;
  std::unordered_map<std::string, int> tensor_names_;
  std::vector<Link> links_;
  std::map<std::string, std::uint32_t> pools_, streams_;
  struct CopyRoute {
    std::uint32_t route;
    std::string stream, device;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, CopyRoute> copy_routes_;  ///< indexed by pools
  std::map<std::string, std::uint32_t> synchronous_routes_;                   ///< indexed by name
  std::vector<Turns> turns_;  ///< indexed by compute stream
};

}  // namespace sluice
