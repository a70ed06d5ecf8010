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
  /// Bytes of the device for activations, their gradients and workspaces: those of one micro-batch, or of all that run
  /// side by side. If weights take turns, the bytes include the weights, and they are those of all devices that take
  /// turns. None: unlimited.
  std::optional<std::int64_t> budget;
  bool overlap = true;
  /// Returns the seconds of the run that the scenario asks about, as if each micro-batch used this tape and loads could
  /// use this many bytes to come early. Infinity: the run blocks or does not fit.
  FateScore score;
  /// Returns what a device holds, by class, at the moment of a step with this tape at which it holds most.
  std::function<Shortage(const Tape&)> shortage = {};
  FateRun run = {};  ///< the times of the whole run outside of its micro-batches
  double steps = 1;
  /// The same request, for a chain in which selective recomputation drops what it can. Null: it can drop nothing.
  const FateRequest* selective = nullptr;

  /// Whether the caller also asks for other numbers of micro-batches side by side, and compares the answers.
  bool one_of_several = false;
  /// A tape that takes this many seconds or more is not useful to the caller.
  double worth = std::numeric_limits<double>::infinity();

  /// Whether stages take turns on the device. If they do, the seconds of a tape leave out what happens outside of its
  /// micro-batches.
  bool takes_turns() const;
};

struct FateChoice {
  Tape tape;
  std::vector<Fact> facts;  ///< for the report
  /// The bytes that early loads may use; none: all bytes of the device.
  std::optional<std::int64_t> bytes = {};
  bool explained = false;  ///< the facts say the fate of each stage
  bool selective = false;  ///< the tape belongs to the selective request
  /// Set when the strategy searched the whole run: the simulated seconds, and a lower bound for all
  /// choices.
  std::optional<double> seconds = {}, bound = {};
};

struct FateStrategy {
  std::string name;
  std::string summary;       ///< one sentence
  std::string details = {};  ///< a paragraph: what it does, when to use it, what it costs
  std::string source;        ///< paper, section
  std::string example = {};  ///< a command that runs as it is
  std::vector<Field> parameters = {};
  bool selective = false;            ///< what selective recomputation drops is never kept
  bool inference = false;            ///< also says where boundary activations of inference go
  bool offloads_boundaries = false;  ///< in inference, boundary activations are held in host memory
  /// Whether training compares this strategy when a scenario names none. Such a strategy needs no
  /// parameters for single stages.
  bool compared = false;
  /// Whether the strategy itself searches within the device's memory, for a given number of micro-batches side by
  /// side.
  bool searches = false;
  /// Throws InputError (at the parameter) and Infeasible.
  FateChoice (*choose)(const FateRequest& request, const Reader& parameters) = nullptr;
};

const Catalog<FateStrategy>& fate_catalog();

/// The record of a scenario's `fates:` mapping for this strategy.
Record record_of(const FateStrategy& strategy);

/// The strategy that a `fates:` mapping names. Throws InputError.
Chosen<FateStrategy> choose_fates(const Value& fates);

/// The strategy for a scenario that names no strategy and leaves none to be compared: everything is kept. It is the
/// first strategy of the catalog.
const Chosen<FateStrategy>& kept_fates();

/// A strategy with none of its keys set.
Chosen<FateStrategy> plain_fates(const FateStrategy& strategy);

/// The fate of each stage under a tape, as text: keep, recompute (and how often), or offload.
std::vector<std::string> fates_text(const Chain& chain, const Tape& tape);

}  // namespace sluice
