// Targets for files that a library opens by their paths: traces and profiles in HDF5, and stores in SQLite.
#pragma once

#include <string>

namespace sluice::test {

/// `text` is a list of edits (hdf5_edits.hpp) of a small trace or profile. A trace that can be read is also exported,
/// and a profile that can be read is also written.
void read_edited_trace(const std::string& text, const std::string& path);
void read_edited_profile(const std::string& text, const std::string& path);

/// `text` is the content of an SQLite file.
void read_store_bytes(const std::string& text, const std::string& path);

}  // namespace sluice::test
