// Strategies for the fates of activations in training: keep, recompute or offload. Each strategy
// has a file (or shares it with a few small ones); catalog.cpp lists them.
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
  /// Bytes of the device for activations, gradients of activations and working sets, of one
  /// micro-batch or of those that go side by side. Where weights take turns, they are included, and
  /// the bytes are those of all devices that take turns. None: without limit.
  std::optional<std::int64_t> budget;
  bool overlap = true;
  /// Seconds of the run that the scenario asks about, if each micro-batch went through this tape
  /// and loads came early within so many bytes; infinity: the run blocks or does not fit.
  FateScore score;
  /// What a device holds, by class, at the fullest moment of a step with this tape.
  std::function<Shortage(const Tape&)> shortage = {};
  FateRun run = {};  ///< the micro-batches of the whole run, and what surrounds them
  double steps = 1;
  /// The same request where selective recomputation drops what it can; null: it can drop nothing.
  const FateRequest* selective = nullptr;

  /// Whether the request is for one of several numbers of micro-batches side by side.
  bool one_of_several = false;
  /// A tape that takes this many seconds or more is of no use.
  double worth = std::numeric_limits<double>::infinity();

  /// Whether stages take turns on the device: then the seconds of a tape leave out what surrounds
  /// it.
  bool takes_turns() const;
};

struct FateChoice {
  Tape tape;
  std::vector<Fact> facts;  ///< for the report
  /// The bytes within which early loads have to stay; none: those of the device.
  std::optional<std::int64_t> bytes = {};
  bool explained = false;  ///< the facts say what becomes of each stage
  bool selective = false;  ///< the tape is one of the selective request
  /// Figures of the whole run, where the strategy searched: the seconds as they were judged, and a
  /// bound below which no choice falls.
  std::optional<double> seconds = {}, bound = {};
};

struct FateStrategy {
  std::string name;
  std::string summary;       ///< one sentence
  std::string source;        ///< paper, section
  std::string example = {};  ///< a command that runs as it stands
  std::vector<Field> parameters = {};
  bool selective = false;            ///< what selective recomputation drops is never kept
  bool inference = false;            ///< also says where boundary activations of inference go
  bool offloads_boundaries = false;  ///< in inference, boundary activations wait in host memory
  /// Whether it is among the strategies that are compared in training where a scenario names none.
  /// It then needs no statement about single stages.
  bool compared = false;
  /// Whether it searches within the device's memory itself, for this many micro-batches side by
  /// side.
  bool searches = false;
  /// Throws InputError (at the parameter) and Infeasible.
  FateChoice (*choose)(const FateRequest& request, const Reader& parameters) = nullptr;
};

const Catalog<FateStrategy>& fate_catalog();

/// The record of a scenario's `fates:` mapping under that strategy.
Record record_of(const FateStrategy& strategy);

/// The strategy that a `fates:` mapping names. Throws InputError.
Chosen<FateStrategy> choose_fates(const Value& fates);

/// The strategy where nothing is said and nothing is compared: everything is kept. It is the first
/// of the catalog.
const Chosen<FateStrategy>& kept_fates();

/// A strategy without any of its keys.
Chosen<FateStrategy> plain_fates(const FateStrategy& strategy);

/// What becomes of each stage under a tape: keep, recompute (how often), offload.
std::vector<std::string> fates_text(const Chain& chain, const Tape& tape);

}  // namespace sluice
