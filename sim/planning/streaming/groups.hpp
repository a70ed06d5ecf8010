// Policy `streamed` divides a model into groups of layers. The weights of the groups take turns on the device. In a run
// of a group, all micro-batches in flight go through the group, one after the other. In a pass, every group has one
// run, in the order of the groups. Each pass loads all weights that do not stay on the device. A step has one or
// several passes. Where nothing else is said, bytes and seconds are for one micro-batch on one device.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/common_parameters.hpp"
#include "planning/copy_time.hpp"
#include "planning/stage_bytes.hpp"
#include "stage/stage_inputs.hpp"

namespace sluice {

/// A run of a group: in the pass `pass`, `count` micro-batches go through the group `group`, one per slot. They begin
/// with the micro-batch `first_micro_batch`.
struct GroupRun {
  std::size_t group = 0;
  std::int64_t pass = 0;
  std::int64_t first_micro_batch = 0, count = 0;
  std::int64_t first_slot = 0;
  std::int64_t last_slot() const { return first_slot + count - 1; }
};
std::vector<GroupRun> group_runs(std::size_t groups, std::int64_t per_step, std::int64_t in_flight);
/// Returns the same runs in another order: if `micro_batches` is not a multiple of `in_flight`, the first pass has
/// fewer micro-batches, and not the last pass.
std::vector<GroupRun> group_runs_short_first(std::size_t groups, std::int64_t micro_batches,
                                             std::int64_t in_flight);

/// Returns the number of passes in a step of `per_step` micro-batches.
std::int64_t passes_per_step(std::int64_t per_step, std::int64_t in_flight);

/// One way to settle everything that the policy `streamed` leaves open.
struct StreamedChoice {
  /// How many micro-batches run through a group between two loads of its weights.
  std::int64_t in_flight = 1;
  /// With n buffers, the device has room for n inputs in transfer and for n results in transfer.
  std::int64_t buffers = 1;
  /// Whether the runs of a group get fewer buffers if there is no room for all `buffers`.
  bool spares = false;
  /// Whether several inputs of a run may be loaded during the previous run. If not, only the first input is loaded
  /// before the run begins. Its load starts during the last slot of the previous run, as soon as all results of earlier
  /// slots have left the device.
  bool inputs_cross = true;
  /// Whether the weights for a run are loaded after all inputs of earlier runs. If not, the copy engine
  /// loads weights whenever it would wait for an input, and these weights may delay the input.
  bool inputs_first = false;
  bool offload = false;  ///< whether tensors for the next group go through host memory
  /// With `offload`, indexed by group: whether the group's tensors for the next group stay on the device all the same.
  /// If empty, all of them go through host memory.
  std::vector<bool> boundaries_stay = {};
  /// For how many groups weights may be loaded early. If empty, only the bytes of `ahead` limit this.
  std::optional<std::int64_t> prefetch;
  std::int64_t piece = 0;  ///< the most bytes of one transfer of weights; 0 means a whole group
  /// The bytes for weights that are loaded early. These bytes are added to the peak of the run without early loads.
  std::int64_t ahead = 0;
  /// Indexed by group: the bytes of the group's weights that stay. May be empty if no weights stay.
  std::vector<std::int64_t> resident = {};

  auto operator<=>(const StreamedChoice&) const = default;
  /// Returns whether the tensors that `group` makes for the next group go through host memory.
  bool offloads(std::size_t group) const {
    return offload && (boundaries_stay.empty() || !boundaries_stay[group]);
  }
  std::int64_t resident_of(std::size_t group) const {
    return resident.empty() ? 0 : resident[group];
  }
  std::int64_t resident_bytes() const;  ///< the bytes of weights that stay, of all groups together
  /// Returns the choice for this many groups, written as keys of a scenario. What no key can express stands behind a
  /// semicolon.
  std::string text(std::size_t groups) const;
};

/// The copies of a plan that use other links on the real machine than on the shown machine
/// (planning/placement/backing.hpp). Copies of one engine run one after the other. Engine 0 makes the copies
/// StreamedCase::down, and engine 1 makes the copies StreamedCase::up.
struct RealCopies {
  CopyTime inputs, answers;
  /// The copies from host memory into the device's second memory. Each weight is copied once, before its first load
  /// into the first memory.
  CopyTime begins;
  static constexpr std::size_t down_engine = 0, up_engine = 1, engines = 5;
  std::size_t inputs_engine = down_engine, answers_engine = up_engine, begins_engine = up_engine;
  /// The seconds per byte of the slowest link that both inputs and weights from host memory cross, or 0 if there is
  /// none.
  double shared_s_per_byte = 0;
  bool share_links = false;  ///< whether copies of different engines slow each other down
};

/// The data that determine the seconds and bytes of a choice: the bytes and the compute seconds of each group, the
/// times of copies, and the numbers of the workload.
struct StreamedCase {
  struct Group {
    StageBytes bytes{};
    double compute_s = 0;
    /// Only with offloading: whether all tensors that cross the cut behind the group are made in the group, and only
    /// the next group reads them. A shortcut around the next group crosses the cut, too, but is read later.
    bool hands_over = true;
  };
  std::vector<Group> groups;
  CopyTime down, up;
  std::int64_t caches = 0;         ///< the bytes that stay on the device during the whole run
  std::int64_t micro_batches = 1;  ///< per step
  std::int64_t steps = 1;
  /// Whether equal passes of a long step may be planned only once: the run has a single step, and only one device with
  /// one memory.
  bool may_repeat = false;
  bool returns_answers = true, overlap = true;
  bool shared_link = false;  ///< whether loads and saves slow each other down
  /// Whether copies of other devices may slow down the copies of this device.
  bool shared_with_devices = false;
  bool host_limited = false;  ///< whether host memory may be too small for offloaded tensors
  std::optional<RealCopies> real = {};  ///< set if the platform is a shown machine
  /// Returns whether more room may change the run of a list of actions: if a load may begin earlier, it may slow down
  /// another copy. Such a run has to stay within the room for which it was planned.
  bool room_changes_runs() const {
    return shared_with_devices || (overlap && (shared_link || (real && real->share_links)));
  }
  /// The copy times of the model's inputs and of its answers, on the real machine.
  const CopyTime& input_copy() const { return real ? real->inputs : down; }
  const CopyTime& answer_copy() const { return real ? real->answers : up; }

  std::int64_t weights() const;  ///< the bytes of the weights of all groups
  /// Returns whether equal passes of a step are planned only once (RehearsedStep). Then the first pass may have fewer
  /// micro-batches than the others. In any other step, the last pass may have fewer micro-batches.
  bool repeats_passes(std::int64_t in_flight) const;
  /// Returns whether a step is so long that a single pass must not have all its micro-batches.
  bool is_very_long() const;
  /// Returns the number of micro-batches in the first or the last pass of a step.
  std::int64_t in_first_pass(std::int64_t in_flight) const;
  std::int64_t in_last_pass(std::int64_t in_flight) const;
  /// If boundaries stay on the device, a group may make and save a part of each answer. answer_bytes() returns the
  /// bytes of this part, and save_s() the seconds to save it. If answers stay on the device, save_s() is 0.
  std::int64_t answer_bytes(std::size_t group) const;
  double save_s(std::size_t group) const;
};
/// Returns the data of StreamedCase for the cut of the request. StreamedChoice explains `offload`.
StreamedCase streamed_case(const PolicyRequest& request, const CommonParameters& common,
                           bool offload);

/// Returns the bytes of each group, from the tensors that go from group to group (group_tensors()). The output of a
/// group has the tensors that it makes. With `offload`, the input of a group has all tensors that it reads. Without
/// `offload`, its input has those that no later group reads, and StageBytes::around has those that a later group reads.
/// A group may make a part of the answer. With `offload`, this part is saved together with the tensors for later
/// groups. Without `offload`, the part is saved alone, as soon as it is made, while the tensors for later groups stay
/// on the device.
std::vector<StageBytes> streamed_bytes(const PolicyRequest& request, bool offload);

/// Returns the tensors that go from group to group. Inputs of the model that later groups read count as made in the
/// first group. With `offload`, the tensors go through host memory, and the last group reads the parts of the answer
/// that earlier groups make. A group loads the tensors that it reads as one tensor, and saves the tensors that it makes
/// as one tensor. But host memory holds each of them as a tensor of its own, until the last group that reads it has
/// loaded it. Without `offload`, each tensor stays on the device until the last group that reads it has been computed.
std::vector<StageInput> group_tensors(const PolicyRequest& request, bool offload);

/// Divides `weights` bytes into transfers, and returns their sizes. The sizes are equal except for rounding. Each is at
/// most `piece` bytes. If `piece` is 0, there is only one transfer.
std::vector<std::int64_t> pieces_of(std::int64_t weights, std::int64_t piece);

/// Returns the sizes of pieces that are tried if the scenario gives no size. `passes` is the number of passes in a
/// step. The size 0 means that the weights of a group are one piece.
std::vector<std::int64_t> piece_sizes(const StreamedCase& streamed, double passes);

/// The sizes of the pieces of a group's weights. The pieces that stay come first.
struct GroupPieces {
  std::vector<std::int64_t> bytes;
  std::size_t kept = 0;  ///< the number of pieces that stay
};
GroupPieces group_pieces(const StreamedCase& streamed, const StreamedChoice& choice,
                         std::size_t group);

/// Returns whether weights that stay are loaded before the first step instead of during the first pass. This holds if
/// there is only one group. It also holds if there are several steps, because all steps must have the same loads.
bool kept_in_prologue(const StreamedCase& streamed);

}  // namespace sluice
