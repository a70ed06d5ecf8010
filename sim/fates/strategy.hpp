// Strategies decide the fates of activations in training: keep, recompute or offload. Each strategy has its own file (a
// few small ones share a file). catalog.cpp lists them.
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
  /// How many bytes of the device's memory may hold activations, their gradients and workspaces of one micro-batch, or
  /// of all micro-batches that run side by side. If weights take turns, the weights are counted, too, and the budget is
  /// that of all devices together that take turns. No value: the memory is unlimited.
  std::optional<std::int64_t> budget;
  bool overlap = true;
  /// Returns the seconds of the run that the scenario asks about, if each micro-batch uses this tape, and if loads may
  /// come early as long as at most this many bytes are used. Infinity means that the run blocks or does not fit.
  FateScore score;
  /// Returns the bytes that a device holds, by class of tensor, at the peak of a step with this tape.
  std::function<Shortage(const Tape&)> shortage = {};
  FateRun run = {};  ///< the times of the whole run outside of its micro-batches
  double steps = 1;
  /// The same request, for a chain in which selective recomputation drops all tensors that it can drop. Null: there are
  /// no such tensors.
  const FateRequest* selective = nullptr;

  /// Whether the caller also asks for other numbers of micro-batches side by side, and compares the answers.
  bool one_of_several = false;
  /// The caller has a result of this many seconds already, so only a faster tape is useful.
  double worth = std::numeric_limits<double>::infinity();

  /// Returns whether the weights of stages take turns on the device. If they do, the seconds of a tape do not include
  /// the times of the run outside of its micro-batches.
  bool takes_turns() const;
};

struct FateChoice {
  Tape tape;
  std::vector<Fact> facts;  ///< for the report
  /// The bytes of the device that may be used, including early loads. No value: all bytes of the device.
  std::optional<std::int64_t> bytes = {};
  bool explained = false;  ///< whether the facts contain the fate of each stage
  bool selective = false;  ///< whether the tape is for the chain of the selective request
  /// These are set if the strategy compared tapes by the seconds of the whole run: the seconds of this run, and a lower
  /// bound of the seconds for all choices.
  std::optional<double> seconds = {}, bound = {};
};

struct FateStrategy {
  std::string name;
  std::string summary;       ///< one sentence
  std::string details = {};  ///< a paragraph: what it does, when to use it, what it costs
  std::string source;        ///< paper, section
  std::string example = {};  ///< a command that runs as it is
  std::vector<Field> parameters = {};
  bool selective = false;            ///< tensors that selective recomputation drops are never kept
  bool inference = false;            ///< whether the strategy can also be used in inference
  bool offloads_boundaries = false;  ///< in inference, boundary activations are held in host memory
  /// Whether this strategy is one of those that are compared when a scenario of training names no strategy. Such a
  /// strategy must work without parameters.
  bool compared = false;
  /// Whether the strategy searches for a tape that fits into the device's memory. The number of micro-batches side by
  /// side is given to it.
  bool searches = false;
  /// Chooses the fates. Throws InputError with the position of a wrong parameter, and Infeasible if no choice fits.
  FateChoice (*choose)(const FateRequest& request, const Reader& parameters) = nullptr;
};

const Catalog<FateStrategy>& fate_catalog();

/// Returns the record of the `fates:` mapping of a scenario that uses this strategy.
Record record_of(const FateStrategy& strategy);

/// Returns the strategy that a `fates:` mapping names. Throws InputError if the mapping is wrong.
Chosen<FateStrategy> choose_fates(const Value& fates);

/// Returns the strategy that keeps everything, which is the first one of the catalog. It is used if a scenario names no
/// strategy and none are to be compared.
const Chosen<FateStrategy>& kept_fates();

/// Returns a choice of this strategy in which no key has a value.
Chosen<FateStrategy> plain_fates(const FateStrategy& strategy);

/// Returns a text per stage with its fate in this tape: keep, recompute (and how often), or offload.
std::vector<std::string> fates_text(const Chain& chain, const Tape& tape);

}  // namespace sluice
