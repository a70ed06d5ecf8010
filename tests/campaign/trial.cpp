#include "campaign/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.hpp"
#include "base/packed_strings.hpp"
#include "base/processes.hpp"
#include "campaign/generator.hpp"

namespace sluice::test {
namespace {

using Clock = std::chrono::steady_clock;

// Sanitizers make a program take about ten times as much processor time.
#ifdef __SANITIZE_ADDRESS__
constexpr ChildLimits limits = {.more_bytes = 3'000'000'000, .cpu_s = 900};
#else
constexpr ChildLimits limits = {.more_bytes = 3'000'000'000, .cpu_s = 150};
#endif

/// Returns the bytes that a pool holds at its peak.
double peak_of(const Executed& run, const std::string& pool) {
  const double bytes = run.summary.number("peak_bytes", {pool});
  return std::isnan(bytes) ? 0 : bytes;
}

/// Replaces the first unlimited capacity after `start` by the sum of `bytes` and the reserved bytes.
void limit(std::string& text, const std::string& start, double bytes, std::int64_t reserved) {
  const std::string unlimited = "capacity: unlimited";
  const std::int64_t tensors = static_cast<std::int64_t>(std::ceil(bytes)) + 1;
  std::string given = "capacity: " + std::to_string(tensors + reserved) + "B";
  if (reserved > 0) given += ", reserved: " + std::to_string(reserved) + "B";
  text.replace(text.find(unlimited, text.find(start)), unlimited.size(), given);
}

/// Returns the scenario with limited memories. A run without limits gives the peaks of the memories. All devices get
/// the same capacity: a share of the highest peak among them. Host memory gets a share of its own peak.
std::string with_memory(const Question& question) {
  if (question.share == 0 && question.host_share == 0) return question.text;
  const Executed run = executed(question.text);
  const Platform& platform = run.scenario.platform;
  std::string text = question.text;
  if (question.share > 0) {
    double peak = 0;
    for (const Device& device : platform.devices)
      peak = std::max(peak, peak_of(run, device.memory().pool));
    const bool may_reserve = platform.devices.front().memory().own;
    limit(text, "platform:", peak * question.share, may_reserve ? question.reserved : 0);
  }
  if (question.host_share > 0)
    limit(text, "host: {capacity", peak_of(run, platform.host().name) * question.host_share, 0);
  return text;
}

std::string packed(const Verdict& verdict, const std::string& text) {
  const std::string kind = std::to_string(static_cast<int>(verdict.kind));
  std::vector<std::string_view> parts = {kind, verdict.message, text};
  parts.insert(parts.end(), verdict.complaints.begin(), verdict.complaints.end());
  return pack(parts);
}

template <class MakeText>
Trial tried(const Draws& draws, const std::string& plain, const MakeText& text_of, int which,
            bool simgrid) {
  Trial trial;
  trial.tape = draws.tape();
  trial.text = plain;
  try {
    const std::string answer = run_isolated(
        [&] {
          std::string text = plain;
          try {
            text = text_of();
          } catch (const Error&) {  // verdict_of() reports this error.
          }
          return packed(verdict_of(text, which, simgrid), text);
        },
        limits);
    const std::vector<std::string_view> parts = unpack(answer);
    trial.verdict.kind = static_cast<Verdict::Kind>(std::stoi(std::string(parts.at(0))));
    trial.verdict.message = parts.at(1);
    trial.text = parts.at(2);
    for (std::size_t p = 3; p < parts.size(); ++p) trial.verdict.complaints.emplace_back(parts[p]);
  } catch (const InternalError& error) {
    trial.died = error.what();
  }
  return trial;
}

Trial tried(Draws draws, int which, bool simgrid) {
  const Question question = random_question(draws);
  return tried(
      draws, question.text, [&] { return with_memory(question); }, which, simgrid);
}

}  // namespace

std::string Trial::fault() const {
  if (!died.empty()) return died;
  if (verdict.kind == Verdict::Kind::refused) return "a valid scenario was refused";
  if (verdict.complaints.empty()) return {};
  const std::string& first = verdict.complaints.front();
  return first.substr(0, first.find(": "));
}

Trial try_seed(std::uint64_t seed, int which, bool simgrid) {
  return tried(Draws(seed), which, simgrid);
}

Trial try_tape(const Draws::Tape& tape, int which, bool simgrid) {
  return tried(Draws(tape), which, simgrid);
}

Trial try_text(const std::string& text, int which, bool simgrid) {
  return tried(
      Draws(Draws::Tape{}), text, [&] { return text; }, which, simgrid);
}

Trial shrunk(Trial failed, int which, bool simgrid, double seconds) {
  const std::string fault = failed.fault();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const auto improves = [&](const Draws::Tape& tape) {
    if (Clock::now() > end) return false;
    Trial trial = try_tape(tape, which, simgrid);
    const bool smaller = trial.tape < failed.tape || trial.tape.size() < failed.tape.size();
    if (trial.fault() != fault || !smaller) return false;
    failed = std::move(trial);
    return true;
  };
  bool better = true;
  while (better && Clock::now() < end) {
    better = false;
    for (std::size_t length : {8, 4, 2, 1})
      for (std::size_t at = 0; at + length <= failed.tape.size();) {
        Draws::Tape shorter = failed.tape;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at),
                      shorter.begin() + static_cast<std::ptrdiff_t>(at + length));
        improves(shorter) ? better = true : static_cast<bool>(++at);
      }
    for (std::size_t at = 0; at < failed.tape.size(); ++at)
      for (const std::uint32_t value : {0U, failed.tape[at] / 2}) {
        if (at >= failed.tape.size() || failed.tape[at] == value) continue;
        Draws::Tape lower = failed.tape;
        lower[at] = value;
        better = improves(lower) || better;
      }
  }
  return failed;
}

}  // namespace sluice::test
