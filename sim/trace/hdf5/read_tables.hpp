// Reads the small tables of a trace. Only sim/trace uses this code, and the caller holds hdf5::lock(). Throws
// hdf5::Failure.
#pragma once

#include "trace/hdf5/file_reader.hpp"
#include "trace/labels.hpp"
#include "trace/series.hpp"
#include "trace/summary.hpp"

namespace sluice {

Labels read_labels(const FileReader& file);
Summary read_summary(const FileReader& file);
SeriesTable read_series(const FileReader& file, const Labels& labels);

}  // namespace sluice
