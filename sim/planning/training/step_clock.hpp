// Computes a lower bound on the seconds of a training run. The positions of its loads in the listing are given. The
// clock goes through the plan in listing order, with arithmetic on a few arrays. Of the waits for memory, it knows only
// those of memory_waits.hpp. It ignores that copies slow each other down. But the bound is at least the seconds in
// which a shared link carries all its bytes. So no execution of the plan is faster than the bound. If another plan
// takes less than the bound, this plan need not be made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planning/copy_time.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/program.hpp"
#include "planning/slots/load_places.hpp"
#include "planning/slots/memory_waits.hpp"
#include "planning/training/clock/left_out_passes.hpp"
#include "platform/platform.hpp"

namespace sluice {

class StepClock {
 public:
  /// The clock is for a run that executes the program `step` `rounds` times on these devices. In this run, the devices
  /// compute while copies are made. `step` must outlive the clock. If `platform` is a shown machine
  /// (planning/placement/backing.hpp), `real_machine` must be the real machine, and the bound holds for it. Otherwise
  /// `real_machine` must be null. If `memory` is given, no device holds more than this number of bytes. If `replicas`
  /// is given, the run is that of one of several equal replicas, and the bound holds for all of them together. The
  /// seconds of `step` then include waits for sums (with_waits_for_sums()).
  StepClock(const Program& step, const Platform& platform, const std::vector<std::string>& devices,
            std::int64_t rounds, const Platform* real_machine,
            std::optional<std::int64_t> memory = {}, const EqualReplicas* replicas = nullptr);

  /// How many rounds of a run the clock goes through. Of each later round, only sums of seconds count.
  static constexpr std::int64_t exact_rounds = 8;
  /// Returns the clock for a run of at most `exact_rounds` rounds. Its bounds are better for comparing two lists of
  /// places: the end of a longer run is not simulated, and the sums of its rounds may hide a difference.
  StepClock of_few_rounds() const;

  /// Returns the lower bound. `loads` are the loads of the step, in the order in which operations need them. `places`
  /// says for each of them where it is listed. If the step leaves out passes of a long batch, and the equal passes have
  /// different places, the bound is that for all places.
  double at_least(const std::vector<Program::Load>& loads,
                  const std::vector<LoadPlace>& places) const;
  /// Returns a lower bound for all places of the loads. A load starts as soon as its data are there, and the loads that
  /// operations have needed so far take turns on their stream.
  double at_least() const;

 private:
  friend class StepRun;
  struct CopyStream {  ///< the stream and latency of copies between host and device
    std::size_t stream = 0;
    double latency_s = 0;
    /// One pair for each link that these copies share with copies of other streams or of other replicas: the index of
    /// the link, and its seconds per byte. If replicas share the link, these are the seconds for a byte of each
    /// replica.
    std::vector<std::pair<std::size_t, double>> shared = {};
  };
  /// The copies that use other links on the real machine than on a shown machine.
  struct RealCopies {
    std::vector<CopyStream> inputs;  ///< indexed by device
    std::vector<CopyTime> input_times;
    /// The copies of weights from host memory into the device's second memory. Each weight is copied once, before its
    /// first load.
    CopyStream begins;
    std::map<std::int64_t, double> begins_s;  ///< the seconds of these copies, by stage
    std::map<std::int64_t, std::int64_t> begins_bytes;
  };
  /// Pairs of a CopyStream and the path on which its copies run.
  using Users = std::vector<std::pair<CopyStream*, const Path*>>;
  void find_saves();
  void find_shared_links(const Platform& platform, const Users& users, const Platform* share);
  double seconds_on_links() const;
  bool is_real_input(const Program::Instance& loaded) const {
    return real_ && loaded.home == Program::Home::input;
  }
  const CopyStream& stream_of(const Program::Instance& loaded) const {
    return is_real_input(loaded) ? real_->inputs[loaded.device] : down_[loaded.device];
  }
  double load_seconds(const Program::Instance& loaded) const {
    return is_real_input(loaded) ? real_->input_times[loaded.device].seconds(loaded.bytes)
                                 : loaded.load_s;
  }
  const Program& step_;
  std::int64_t rounds_;
  std::optional<RealCopies> real_;     ///< set if the platform is a shown machine
  std::vector<CopyStream> down_, up_;  ///< indexed by device
  std::vector<double> save_s_;         ///< indexed by instance
  /// Indexed by instance: the save for which the instance's load must wait, if there is one (HomeWrites).
  std::vector<std::optional<HomeWrites::Written>> written_;
  /// Indexed by stage: the seconds of the load of its weights if they stay on the device, and otherwise 0.
  std::vector<double> weights_s_;
  /// For each stage whose weights stay: the index of its first operation, and the stage. In the order of these
  /// operations.
  std::vector<std::pair<std::int64_t, std::size_t>> first_uses_;
  /// Indexed by operation: the number of saves in the round before the operation. The last element is the number of all
  /// saves of the round.
  std::vector<std::size_t> saves_;
  std::size_t streams_ = 0;       ///< the number of copy streams
  std::size_t shared_links_ = 0;  ///< the number of links that several of these streams use
  double compute_s_ = 0;          ///< per round
  std::vector<double> waits_s_;   ///< indexed by operation: waits_for_sums(), which its seconds include
  double sums_differ_s_ = 0;      ///< EqualReplicas::sums_differ_s
  std::optional<MemoryWaits> memory_ = {};
  LeftOutPasses left_out_;
};

}  // namespace sluice
