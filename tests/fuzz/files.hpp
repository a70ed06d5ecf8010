// Targets of the fuzzer (targets.hpp) for files that a library opens by their paths: traces and profiles in HDF5, and
// stores in SQLite.
#pragma once

#include <string>

namespace sluice::test {

/// These targets apply the edits in `text` (hdf5_edits.hpp) to a small trace or profile, and read the edited file. If
/// the file can be read, the trace is exported, or the profile is written again.
void read_edited_trace(const std::string& text, const std::string& path);
void read_edited_profile(const std::string& text, const std::string& path);

/// Reads a store from a file that has the content `text`.
void read_store_bytes(const std::string& text, const std::string& path);

}  // namespace sluice::test
