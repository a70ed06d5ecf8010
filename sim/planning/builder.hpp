// The builder with which policies make plans. It knows the pools, links and streams of a platform by their names.
// Policies add actions in listing order.
#pragma once

#include <array>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// The largest number of actions in a plan. A longer plan could fill the memory of the computer that runs Sluice.
inline constexpr std::int64_t most_actions = 4'000'000;
/// Throws Infeasible if `actions` is more than `most_actions`. The caller is making a plan, which would have at least
/// `actions` actions.
void refuse_long_plan(std::int64_t actions);
/// Makes the same check for a plan whose round has `micro_batches` micro-batches. The plan lists at least
/// `actions_each` actions for each of them.
void refuse_long_round(std::int64_t micro_batches, std::size_t actions_each);

class PlanBuilder {
 public:
  /// Stands for an action that was added. finish() replaces it by the index of the action in the plan.
  struct Ref {
    Section section = Section::prologue;
    std::uint32_t position = none;
    explicit operator bool() const { return position != none; }
  };

  /// Adds pools for all devices and memories of the platform, and links for all its channels. A stream is added when it
  /// is first used.
  PlanBuilder(const Platform& platform, std::string name, bool enforce_capacity);

  /// From this call on, tensors and actions that are added get no names. Such a plan can only be simulated.
  void leave_out_names() { named_ = false; }

  std::uint32_t pool(const std::string& node) const;
  /// Adds a tensor. `home` is the name of the memory that holds the tensor during the whole run. It is empty if the
  /// tensor has no home. If another tensor has the name already, the name of the new tensor gets '2, '3, … behind it.
  std::uint32_t tensor(std::string name, TensorClass tensor_class, std::int64_t bytes,
                       const std::string& home = "");

  /// Says that the gradients of the weights of `stage` are summed in this tensor.
  void sums_gradients(std::uint32_t tensor, std::int32_t stage) {
    plan_.tensors[tensor].gradients_of = stage;
  }

  std::int64_t bytes_of(std::uint32_t tensor) const { return plan_.tensors[tensor].bytes; }

  /// From this call on, actions are added to this section.
  void enter(Section section) { section_ = section; }
  Section section() const { return section_; }
  /// Adds a computation on a device. lower() sets its seconds.
  Ref compute(ActionKind kind, const std::string& device, std::int32_t stage,
              std::int32_t micro_batch, std::int64_t samples);
  /// Where a transfer takes a tensor from, and where it brings the tensor. `from` and `to` are names of memories. The
  /// copy engine of the route between them makes the transfer. With `release`, the transfer is a use of the tensor in
  /// `from`, so it may release the tensor there. With `allocate`, the transfer allocates the tensor in `to`.
  struct TransferEnds {
    std::string from, to;
    bool release = true, allocate = true;
    /// If true, the compute units of the device make the copy instead of a copy engine. During the copy, they compute
    /// nothing: the builder adds waits, so that copies and computations run one after the other.
    bool synchronous = false;
  };
  Ref transfer(ActionKind kind, std::uint32_t tensor, const TransferEnds& ends, std::int32_t stage,
               std::int32_t micro_batch);

  /// Adds a flow to the computation `ref`: during the computation, `bytes` bytes of the tensor go over links from
  /// `from` to `to`.
  void flow(Ref ref, std::uint32_t tensor, const std::string& from, const std::string& to,
            std::int64_t bytes);
  /// Adds another memory to a device.
  void memory(const std::string& name, const std::string& device,
              std::optional<std::int64_t> capacity);
  /// Adds a link from one pool to another pool. Only transfers from the one to the other use this link, and they have a
  /// stream of their own.
  void way(const std::string& from, const std::string& to, double bandwidth, double setup_s,
           double latency_s);
  /// Adds an operation that several devices do together. Returns its index, which is the `collective` of the
  /// operation's actions.
  std::uint32_t collective(Collective collective);

  Action& at(Ref ref) { return actions_[static_cast<std::size_t>(ref.section)][ref.position]; }
  /// Makes the action `ref` wait for the action `on`: for its execution `distance` iterations ago. Does nothing if
  /// `on` is empty.
  void wait(Ref ref, Ref on, std::uint32_t distance = 0);
  /// Makes the action `ref` wait for everything for which the action `other` waits: for its execution `distance`
  /// iterations ago. So `ref` may start when `other` may start.
  void start_with(Ref ref, Ref other, std::uint32_t distance = 0) {
    starts_.push_back({ref, other, distance});
  }
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

  /// An action of a device's compute units, and whether the action is a copy that the units make.
  struct Turn {
    Ref ref;
    bool copies = false;
  };
  struct Turns {
    Turn last, first_of_body, last_of_body;
  };

  const Platform& platform_;
  bool named_ = true;
  Plan plan_;
  Section section_ = Section::prologue;
  std::array<std::vector<Action>, 3> actions_;
  /// The memory of the tables of names. All of it is freed at once, which is fast even for many names.
  std::pmr::monotonic_buffer_resource memory_of_names_;
  using NameCounts = std::pmr::unordered_map<FormulaName, int, FormulaName::Hash>;
  std::array<NameCounts, 3> names_ = {NameCounts(&memory_of_names_), NameCounts(&memory_of_names_),
                                      NameCounts(&memory_of_names_)};
  std::pmr::unordered_map<std::string, int> tensor_names_{&memory_of_names_};
  std::vector<Link> links_;   ///< the waits
  std::vector<Link> starts_;  ///< the pairs of start_with()
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
