// Makes the digest of a plan. If the text of the plan is too long, the baseline keeps the digest instead of this text.
#include <map>

#include "base/quantity.hpp"
#include "base/sha256.hpp"
#include "plan/text.hpp"
#include "study/check/golden_plan.hpp"
#include "study/check/plan_lines.hpp"

namespace sluice {

namespace {

constexpr std::string_view newline = "\n";

/// Sums over all executions of actions: an action that is executed several times counts several
/// times.
struct Tally {
  std::int64_t actions = 0, executions = 0;
  double bytes = 0, seconds = 0, flop = 0, memory_bytes = 0, joules = 0;
  Sha256 order;

  void add(const Plan& plan, std::uint32_t a, std::string_view structure) {
    const Action& action = plan.actions[a];
    const std::int64_t times = plan.executions_of(a);
    const auto factor = static_cast<double>(times);
    ++actions;
    executions += times;
    bytes += factor * static_cast<double>(action.moved_bytes());
    if (!action.is_transfer()) seconds += factor * action.seconds;
    flop += factor * action.flop;
    memory_bytes += factor * action.memory_bytes;
    joules += factor * action.joules;
    order.update(structure);
    order.update(newline);
  }

  std::string text() const {
    return " actions=" + std::to_string(actions) + " executions=" + std::to_string(executions) +
           " bytes=" + exact(bytes) + " seconds=" + exact(seconds) + " flop=" + exact(flop) +
           " memory_bytes=" + exact(memory_bytes) + " joules=" + exact(joules) +
           " order=" + order.hex().substr(0, 16) + "\n";
  }
};

/// Returns the line of an action, without the numbers that come from a cost model.
std::string structure_of(const PlanLine& line) {
  std::string text;
  for (const Word& word : line.words()) {
    const std::string_view key = word.text.substr(0, PlanLine::find_bare(word.text, '='));
    if (key == "seconds" || key == "flop" || key == "memory_bytes" || key == "joules" ||
        key == "measured_s")
      continue;
    text += (text.empty() ? "" : " ") + std::string(word.text);
  }
  return text;
}

class Digest {
 public:
  explicit Digest(const Plan& plan) : plan_(plan) {}

  std::string text() {
    const std::string full = to_text(plan_);
    const std::string name = "plan";
    for_lines(full, name, [&](const PlanLine& line) { take(line); });
    std::string text = std::string(digest_format) + "\n# of a plan of " +
                       std::to_string(full.size()) + " bytes; see docs/check.md\n" + head_;
    text += "tensors" + tensors_.text();
    for (const auto& [words, tally] : sums_) text += words + tally.text();
    for (const auto& [stage, seconds] : stage_seconds_)
      text += "compute " + quoted(stage) + " seconds=" + exact(seconds) + "\n";
    return text;
  }

 private:
  struct Tensors {
    std::int64_t count = 0;
    double bytes = 0;
    Sha256 order;
    std::string text() const {
      return " count=" + std::to_string(count) + " bytes=" + exact(bytes) +
             " order=" + order.hex().substr(0, 16) + "\n";
    }
  };

  void take(const PlanLine& line) {
    if (begins_section(line.text)) {
      in_actions_ = true;
    } else if (in_actions_) {
      take_action(line);
    } else if (line.text.substr(0, 7) == "tensor ") {
      tensors_.order.update(line.text);
      tensors_.order.update(newline);
      tensors_.bytes +=
          static_cast<double>(plan_.tensors[static_cast<std::size_t>(tensors_.count++)].bytes);
    } else if (line.text.substr(0, 8) != "format: ") {
      head_ += std::string(line.text) + "\n";
    }
  }

  void take_action(const PlanLine& line) {
    const std::uint32_t a = next_action_++;
    const Action& action = plan_.actions[a];
    const std::string section(name_of(plan_.section_of(a)));
    const std::string structure = structure_of(line);
    tally("section " + section).add(plan_, a, structure);
    tally("on " + section + " " + quoted(plan_.streams[action.stream].name))
        .add(plan_, a, structure);
    if (action.is_transfer() || action.stage < 0) return;
    const auto stage = static_cast<std::size_t>(action.stage);
    stage_seconds_[stage < plan_.stages.size() ? plan_.stages[stage] : std::to_string(stage)] +=
        action.seconds * static_cast<double>(plan_.executions_of(a));
  }

  Tally& tally(const std::string& words) { return sums_[words]; }

  const Plan& plan_;
  bool in_actions_ = false;
  std::uint32_t next_action_ = 0;
  std::string head_;
  Tensors tensors_;
  std::map<std::string, Tally> sums_;
  std::map<std::string, double> stage_seconds_;
};

}  // namespace

std::string digest_text(const Plan& plan) {
  return Digest(plan).text();
}

}  // namespace sluice
