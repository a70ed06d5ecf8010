#include "planning/phased/waits.hpp"

#include <algorithm>

namespace sluice {

bool PhaseWindow::followed_at_once(std::size_t p) const {
  return p + 1 < phases.size() && phases[p + 1].stage == phases[p].stage + 1 &&
         phases[p + 1].micro_batches == phases[p].micro_batches;
}

namespace {

class PhaseWaits {
 public:
  PhaseWaits(PlanBuilder& builder, const PhaseRules& rules, PhaseWindow& window,
             const PhaseWindow& before)
      : builder_(builder), rules_(rules), window_(window), before_(before) {}

  void add() {
    std::vector<ListedPhase>& listed = window_.listed;
    for (std::size_t p = 0; p < listed.size(); ++p)
      if (!listed[p].is_idle()) listed[p].saves_before = saves_before(p);
    for (std::size_t p = 0; p < listed.size(); ++p) {
      const ListedPhase& mine = listed[p];
      if (mine.is_idle()) continue;
      for (const ListedPhase::Gate& gate : mine.saves_before)
        builder_.wait(mine.first, gate.ref, gate.distance);
      add_save_waits(p);
      const EarlierPhase before = earlier_phase(p, 1);
      if (before.listed) builder_.wait(mine.first, before.listed->last, before.distance);
      if (rules_.preload)
        add_preload_waits(p);
      else if (before.listed)
        for (PlanBuilder::Ref load : mine.first_loads)
          builder_.wait(load, before.listed->last, before.distance);
    }
    for (PlanBuilder::Ref ref : window_.carried)
      builder_.wait(ref, before_.listed.back().last, distance());
  }

 private:
  /// Returns the distance from this window to the window before it, in iterations: 1 in the body, and 0 in the epilogue.
  std::uint32_t distance() const { return &before_ == &window_ ? 1 : 0; }

  /// An earlier phase, in this window or in an earlier window. earlier_phase() returns the phase that is `back` phases
  /// before phase p. `listed` is null if there is no such phase.
  struct EarlierPhase {
    const ListedPhase* listed = nullptr;
    std::uint32_t distance = 0;
  };
  EarlierPhase earlier_phase(std::size_t p, std::size_t back) const {
    if (back <= p) return {&window_.listed[p - back], 0};
    if (before_.listed.empty()) return {};
    // The number of phases that come after the earlier phase and before this window.
    const std::size_t beyond = back - p - 1;
    const std::size_t size = before_.listed.size();
    return {&before_.listed[size - 1 - beyond % size],
            distance() + static_cast<std::uint32_t>(beyond / size)};
  }

  /// Returns the saves for which phase p waits. They save the results of the previous phase of the same device. Idle
  /// phases are skipped. If phase p - 1 ran on the same device, its results are saved only during phase p. So then the
  /// function returns the saves of the results of phase p - 2.
  std::vector<ListedPhase::Gate> saves_before(std::size_t p) const {
    std::vector<ListedPhase::Gate> gates;
    const std::size_t size = before_.listed.size(), turn = phases_since_device(p);
    std::size_t back = std::max<std::size_t>(turn, 2);
    for (EarlierPhase phase = earlier_phase(p, back); phase.listed && phase.listed->is_idle();
         phase = earlier_phase(p, back))
      back += turn;
    if (back == p + 1)  // the saves of the previous window's last phase are in this window
      for (PlanBuilder::Ref ref : window_.carried) gates.push_back({ref, 0});
    else if (rules_.overlap && back > p &&
             // The device's previous phase is the last phase of an earlier window.
             (back - p - 1) % size == 0)
      for (PlanBuilder::Ref ref : before_.carried)
        gates.push_back({ref, distance() + static_cast<std::uint32_t>((back - p - 1) / size) - 1});
    else if (const EarlierPhase phase = earlier_phase(p, back); phase.listed)
      for (PlanBuilder::Ref ref : phase.listed->saves) gates.push_back({ref, phase.distance});
    return gates;
  }

  /// Adds waits to the saves that are listed in phase p. They save the results of the phase before, and begin when
  /// phase p begins. But if phase p itself needs these results, each save begins as soon as its result has been made,
  /// and no waits are added.
  void add_save_waits(std::size_t p) {
    if (p > 0 && window_.followed_at_once(p - 1)) return;
    for (PlanBuilder::Ref save : p == 0 ? window_.carried : window_.listed[p - 1].saves)
      for (const ListedPhase::Gate& gate : window_.listed[p].saves_before)
        builder_.wait(save, gate.ref, gate.distance);
  }

  /// Adds waits to the loads for phase p. If devices take turns, the loads may begin when the device of phase p has
  /// ended its previous phase. With two devices, phase p - 1 starts on the other device at this moment. So the loads
  /// wait for the same actions as the start of phase p - 1. With one device, the loads wait for these actions, too. So
  /// they may begin when phase p - 1 begins.
  void add_preload_waits(std::size_t p) {
    const std::size_t resting = std::max<std::size_t>(phases_since_device(p), 2) - 1;
    const EarlierPhase begin = earlier_phase(p, resting), before = earlier_phase(p, resting + 1);
    for (PlanBuilder::Ref load : window_.listed[p].first_loads) {
      if (before.listed) builder_.wait(load, before.listed->last, before.distance);
      if (!begin.listed) continue;
      for (PlanBuilder::Ref other : begin.listed->last_loads)
        builder_.wait(load, other, begin.distance);
      for (const ListedPhase::Gate& gate : begin.listed->saves_before)
        builder_.wait(load, gate.ref, gate.distance + begin.distance);
    }
  }

  /// Returns how many phases ago the device of phase p had its previous phase. If it has had no phase yet, returns the
  /// number of all earlier phases.
  std::size_t phases_since_device(std::size_t p) const {
    if (!rules_.by_stage) return rules_.devices.size();
    const std::vector<Phase>&phases = window_.phases, &before = before_.phases;
    for (std::size_t back = 1; back <= p + before.size(); ++back) {
      const Phase& phase = back <= p ? phases[p - back] : before[before.size() - (back - p)];
      if (phase.device == phases[p].device) return back;
    }
    return p + before.size();
  }

  PlanBuilder& builder_;
  const PhaseRules& rules_;
  PhaseWindow& window_;
  const PhaseWindow& before_;
};

}  // namespace

void add_phase_waits(PlanBuilder& builder, const PhaseRules& rules, PhaseWindow& window,
                     const PhaseWindow& before) {
  PhaseWaits(builder, rules, window, before).add();
}

}  // namespace sluice
