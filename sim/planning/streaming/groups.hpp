// Policy streamed divides a model into groups of layers, whose weights take turns on the device. A group runs over as
// many micro-batches as are in flight, one after the other: this is a run of the group. A pass is one run of every
// group, in order, so that each pass loads all weights that do not stay. A step has one pass or several. Bytes and
// seconds are for one micro-batch on one device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/copy_time.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// A run of a group: in pass `pass`, group `group` computes the micro-batches `first_micro_batch` to `first_micro_batch
/// + count - 1`, one per slot.
struct GroupRun {
  std::size_t group = 0;
  std::int64_t pass = 0;
  std::int64_t first_micro_batch = 0, count = 0;
  std::int64_t first_slot = 0;
  std::int64_t last_slot() const { return first_slot + count - 1; }
};
std::vector<GroupRun> group_runs(std::size_t groups, std::int64_t per_step, std::int64_t in_flight);

/// One way to make the choices that policy streamed leaves open.
struct StreamedChoice {
  std::int64_t in_flight = 1;  ///< micro-batches that run through a group per load of its weights
  std::int64_t buffers = 1;    ///< inputs and results that are on the device for transfers
  bool spares = false;         ///< uses fewer buffers when they would not fit together with a group
  /// Whether several inputs of a group may be loaded while the group before it runs. If not, only the first of them is
  /// loaded there: during the last slot, when all results of earlier slots have left the device.
  bool inputs_cross = true;
  bool offload = false;                  ///< tensors for the next group go through host memory
  std::optional<std::int64_t> prefetch;  ///< groups loaded early; if empty, as `ahead` allows
  std::int64_t piece = 0;  ///< bytes of one transfer of weights; 0 means a whole group
  std::int64_t ahead = 0;  ///< bytes for weights beyond those that must be on the device
  std::vector<std::int64_t> resident = {};  ///< per group: bytes of its weights that stay; or empty

  std::int64_t resident_of(std::size_t group) const {
    return resident.empty() ? 0 : resident[group];
  }
  std::int64_t resident_bytes() const;  ///< the sum over all groups
  /// The choice as text of a scenario, for a cut into so many groups.
  std::string text(std::size_t groups) const;
};

/// What a cut needs from the device. The seconds and bytes of every choice follow from these numbers.
struct StreamedCase {
  struct Group {
    StageBytes bytes{};
    double compute_s = 0;
  };
  std::vector<Group> groups;
  CopyTime down, up;
  std::int64_t caches = 0;         ///< bytes that stay on the device during the whole run
  std::int64_t micro_batches = 1;  ///< per step
  std::int64_t steps = 1;
  bool returns_answers = true, overlap = true;
  bool shared_link = false;   ///< copies up and down slow each other down
  bool host_limited = false;  ///< host memory may be too small for what is offloaded

  std::int64_t weights() const;  ///< bytes of all groups
};
/// `offload` has the meaning that it has in StreamedChoice.
StreamedCase streamed_case(const PolicyRequest& request, const CommonParameters& common,
                           bool offload);

/// Bytes of the groups. A group's part of the answer leaves as soon as it is made if the tensors for the next group
/// stay on the device. If these tensors go through host memory, the part of the answer goes with them.
std::vector<StageBytes> streamed_bytes(const PolicyRequest& request, bool offload);

/// Sizes of the transfers that bring this many bytes of weights: they are equal, and none is larger
/// than `piece`.
std::vector<std::int64_t> pieces_of(std::int64_t weights, std::int64_t piece);

/// The weights of a group as transfers. The transfers of weights that stay come first.
struct GroupPieces {
  std::vector<std::int64_t> bytes;
  std::size_t kept = 0;  ///< how many of them stay
};
GroupPieces group_pieces(const StreamedCase& streamed, const StreamedChoice& choice,
                         std::size_t group);

/// Whether weights that stay are loaded before the first step instead of during the first pass. A step that is repeated
/// needs this, because its first repetition cannot have a load that the others do not have.
bool kept_in_prologue(const StreamedCase& streamed);

}  // namespace sluice
