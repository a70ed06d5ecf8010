// Writes the small tables of a trace: labels, summary and series. Only sim/trace uses this code, and the caller holds
// hdf5::lock(). Throws hdf5::Failure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/hdf5/chunk_filter.hpp"
#include "trace/hdf5/tree.hpp"
#include "trace/labels.hpp"
#include "trace/series.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// Distinct texts, numbered in the order in which they first occur.
class Codes {
 public:
  explicit Codes(std::vector<std::string> names = {}) : names_(std::move(names)) {}
  /// Returns the code of a text. Throws InternalError if there would be more than 256 codes.
  std::uint8_t of(const std::string& name);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// The codes of an action. A trace may have very many actions, so the members are in an order that needs little
/// padding.
struct ActionCodes {
  std::uint32_t stream;
  std::int32_t stage, micro_batch;
  std::uint8_t kind, section;
};

/// Returns the codes of the actions. Adds the names of kinds and sections to `kinds` and `sections`.
std::vector<ActionCodes> codes_of(const std::vector<Labels::Action>& actions, Codes& kinds,
                                  Codes& sections);

/// Writes /labels/*. Each step() writes one piece, which takes some milliseconds. Writing a million names in one piece
/// would take long.
class LabelWriter {
 public:
  /// All arguments must live longer than this object.
  LabelWriter(Tree& tree, ChunkFilter& filter, const Labels& labels,
              const std::vector<ActionCodes>& codes, const Codes& kinds, const Codes& sections);
  ~LabelWriter();
  /// Writes a piece. Returns false when all labels are written.
  bool step();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes /summary/*.
void write_summary(Tree& tree, const Summary& summary);
/// Writes /series/*.
void write_series(Tree& tree, ChunkFilter& filter, const SeriesTable& table);

}  // namespace sluice
