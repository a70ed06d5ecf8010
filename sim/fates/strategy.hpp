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
  /// Returns what a device holds at the peak of a step with this tape, in bytes by class of tensor.
  std::function<Shortage(const Tape&)> shortage = {};
  FateRun run = {};  ///< the seconds of the whole run outside of its micro-batches
  double steps = 1;
  /// The same request for another chain. In that chain, selective recomputation drops all tensors that it can drop.
  /// Null if there are no such tensors.
  const FateRequest* selective = nullptr;

  /// Whether the caller compares results for several numbers of micro-batches side by side.
  bool one_of_several = false;
  /// The seconds of a result that the caller already has. Only a tape that takes fewer seconds is useful.
  double worth = std::numeric_limits<double>::infinity();

  /// Returns whether the weights of stages take turns on the device. If they do, the seconds of a tape count its
  /// micro-batches only, without the seconds in `run`.
  bool takes_turns() const;
};

struct FateChoice {
  Tape tape;
  std::vector<Fact> facts;  ///< for the report
  /// The bytes of the device that may be used, including early loads. Without a value, all bytes of the device may be
  /// used.
  std::optional<std::int64_t> bytes = {};
  bool explained = false;  ///< whether the facts contain the fate of each stage
  bool selective = false;  ///< whether the tape is for the chain of the selective request
  /// The seconds of the whole run, and a lower bound of the seconds for all choices. Both are empty unless the strategy
  /// compared tapes by the seconds of the whole run.
  std::optional<double> seconds = {}, bound = {};
};

struct FateStrategy {
  std::string name;
  std::string summary;  ///< one sentence
  /// A paragraph about the effect, the use and the costs of the strategy.
  std::string details = {};
  std::string source;        ///< paper, section
  std::string example = {};  ///< a complete command
  std::vector<Field> parameters = {};
  bool selective = false;  ///< whether the strategy includes selective recomputation
  bool inference = false;  ///< whether the strategy can also be used in inference
  /// Whether host memory holds boundary activations in inference.
  bool offloads_boundaries = false;
  /// Whether this strategy is compared with others if a scenario of training names no strategy. Such a strategy must
  /// work without parameters.
  bool compared = false;
  /// Whether the strategy searches for a tape that fits into the device's memory. The caller decides the number of
  /// micro-batches side by side.
  bool searches = false;
  /// Chooses the fates. Throws InputError at the position of a wrong parameter. Throws Infeasible if no choice fits.
  FateChoice (*choose)(const FateRequest& request, const Reader& parameters) = nullptr;
};

const Catalog<FateStrategy>& fate_catalog();

/// Returns the record of the `fates:` mapping of a scenario that uses this strategy.
Record record_of(const FateStrategy& strategy);

/// Returns the strategy that a `fates:` mapping names. Throws InputError if the mapping is wrong.
Chosen<FateStrategy> choose_fates(const Value& fates);

/// Returns the strategy that keeps all activations. It is the first of the catalog. It is used if a scenario names no
/// strategy and no strategies are compared.
const Chosen<FateStrategy>& kept_fates();

/// Returns a choice of this strategy in which no key has a value.
Chosen<FateStrategy> plain_fates(const FateStrategy& strategy);

/// Returns a text with the fate of each stage: keep, recompute (with the number of times), or offload.
std::vector<std::string> fates_text(const Chain& chain, const Tape& tape);

}  // namespace sluice
