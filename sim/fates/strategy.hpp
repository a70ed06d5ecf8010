// Strategies decide the fates of activations in training: keep, recompute or offload. In inference under the policy
// `streamed`, a strategy decides whether boundaries go to host memory. The file catalog.cpp lists all strategies.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/catalog.hpp"
#include "base/error.hpp"
#include "document/choice.hpp"
#include "fates/choices.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/search.hpp"
#include "plan/fact.hpp"

namespace sluice {

struct FateRequest {
  const Chain& chain;
  /// The bytes of device memory for the activations, their gradients and the workspaces of one micro-batch, or of all
  /// micro-batches that run side by side. If weights take turns, the budget also includes the weights, and is the sum
  /// over all devices that take turns. If there is no value, the memory is unlimited.
  std::optional<std::int64_t> budget;
  bool overlap = true;
  /// A function of a tape and a number of bytes. The function simulates the run in which each micro-batch has this
  /// tape, and returns the seconds and bytes of the run. In this run, loads come as early as the number of bytes
  /// allows. If the run blocks or does not fit, the seconds are infinite.
  FateScore score;
  /// Returns the bytes of a device at the peak of a step with this tape, including the tensors that stay there. If the
  /// device has this number of bytes, returns what is missing in the run with this tape.
  std::function<Shortage(const Tape&)> shortage = {};
  FateRun run = {};  ///< the seconds of the whole run outside of its micro-batches
  double steps = 1;
  /// The same request for another chain: the chain in which selective recomputation drops all tensors that it can drop.
  /// If there are no such tensors, the pointer is null.
  const FateRequest* selective = nullptr;

  /// Whether the caller makes several requests and compares the results. They differ in the number of micro-batches
  /// side by side, or in the tensors that stay on devices that take turns.
  bool one_of_several = false;
  /// The seconds of a result that the caller already has. A tape is useful only if it takes fewer seconds than this.
  double worth = std::numeric_limits<double>::infinity();

  /// Returns whether the weights of stages take turns on the device. If they do, serial_seconds() of a tape contains
  /// only the seconds of its micro-batches, and not the seconds in `run`.
  bool takes_turns() const;
};

struct FateChoice {
  Tape tape;
  std::vector<Fact> facts;  ///< for the report
  /// The bytes of the device that the plan may use, including bytes for early loads. If there is no value, the plan may
  /// use all bytes of the device.
  std::optional<std::int64_t> bytes = {};
  bool explained = false;  ///< whether the facts contain the fate of each stage
  bool selective = false;  ///< whether the tape is for the chain of the selective request
  /// The seconds of the whole run with this choice, and a lower bound on the seconds with any choice. Both have a value
  /// only if the strategy compared tapes by the seconds of the whole run.
  std::optional<double> seconds = {}, bound = {};
};

struct FateStrategy {
  std::string name;
  std::string summary;  ///< one sentence
  /// A paragraph that says what the strategy does, when to use it, and what it costs.
  std::string details = {};
  std::string source;        ///< paper, section
  std::string example = {};  ///< a complete command
  std::vector<Field> parameters = {};
  bool selective = false;  ///< whether the strategy includes selective recomputation
  bool inference = false;  ///< whether the strategy can also be used in inference
  /// Whether the strategy keeps boundary activations in host memory during inference.
  bool offloads_boundaries = false;
  /// If a scenario of training names no strategy, several strategies are compared. This field says whether this
  /// strategy is one of them. If so, the strategy must work without parameters.
  bool compared = false;
  /// Whether the strategy searches for a tape that fits into the device's memory. The caller gives the number of
  /// micro-batches that run side by side.
  bool searches = false;
  /// Chooses the fates. Throws InputError at the position of a wrong parameter. Throws Infeasible if no choice fits.
  FateChoice (*choose)(const FateRequest& request, const Reader& parameters) = nullptr;
};

const Catalog<FateStrategy>& fate_catalog();

/// Returns the record of the `fates:` mapping of a scenario that uses this strategy.
Record record_of(const FateStrategy& strategy);

/// Returns the strategy that a `fates:` mapping names. Throws InputError if the mapping is wrong.
Chosen<FateStrategy> choose_fates(const Value& fates);

/// Returns the strategy that keeps all activations, which is the first in the catalog. A scenario that names no
/// strategy gets this strategy, unless strategies are compared.
const Chosen<FateStrategy>& kept_fates();

/// Returns `strategy` as if a scenario had chosen it with a `fates:` mapping that sets no parameters.
Chosen<FateStrategy> plain_fates(const FateStrategy& strategy);

/// Returns for each stage a text with its fate: keep, offload, or recompute with the number of recomputations.
std::vector<std::string> fates_text(const Chain& chain, const Tape& tape);

}  // namespace sluice
