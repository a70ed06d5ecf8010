#include "trace/hdf5/reader.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "trace/hdf5/file_reader.hpp"
#include "trace/hdf5/folds.hpp"
#include "trace/hdf5/read_tables.hpp"
#include "trace/hdf5/stored.hpp"

namespace sluice {

namespace {

using hdf5::Failure;

/// Throws if the path is not a regular file, if the file cannot be read, or if a process is writing it. A pipe is
/// refused, because reading it could wait for ever.
void require_file(const std::string& path) {
  struct stat status {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const bool known = file >= 0 && fstat(file, &status) == 0;
  const int reason = errno;
  const bool free = !known || flock(file, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  if (file >= 0) close(file);
  if (!known) throw IoError("cannot read '" + path + "': " + std::strerror(reason));
  if (!S_ISREG(status.st_mode))
    throw IoError("cannot read '" + path + "': it is not a regular file");
  if (!free) throw IoError("cannot read '" + path + "': it is in use by another process");
  if (status.st_size == 0) throw InputError(path + ": error: the file is empty");
}

}  // namespace

struct TraceReader::State {
  template <class Work>
  auto guarded(Work&& work) const {
    const auto held = hdf5::lock();
    try {
      return work();
    } catch (const Failure& failure) {
      throw InputError(path + ": error: not a readable trace: " + failure.what());
    }
  }

  /// Reads the given rows of `stored`, which is a StoredSpans or a StoredEvents, and passes them to `take` in blocks.
  template <class Row>
  void hand_over(const auto& stored, StoredRows rows, const auto& take) const {
    std::vector<Row> block;
    for (; rows.count > 0; rows.first += block_rows, rows.count -= block_rows) {
      guarded([&] { stored.read(rows.first, std::min(block_rows, rows.count), block); });
      take(block);
    }
  }

  explicit State(const std::string& name) : path(name) {
    require_file(path);
    guarded([&] {
      if (H5Fis_hdf5(path.c_str()) <= 0)
        throw Failure("it is not an HDF5 file; `sluice run SCENARIO -o trace.h5` writes one");
      open_file();
      read_header();
      labels = read_labels(*file);
    });
  }
  ~State() {
    const auto held = hdf5::lock();
    file.reset();
  }

  void open_file() {
    try {
      file.emplace(path);
    } catch (const Failure& failure) {
      const std::string reason = failure.what();
      throw Failure(reason.find("truncated") != std::string::npos ? "it is cut short" : reason);
    }
  }

  void read_header();
  /// Reads the folds at the first call. So a caller that does not need the folds can read a file whose folds are
  /// damaged.
  const std::vector<Fold>& folds() const;
  std::int64_t stored_events(std::uint32_t pool) const {
    return static_cast<std::int64_t>(file->rows(events_group(labels, pool) + "/time"));
  }
  bool minor_1_0() const { return major == 1 && minor == 0; }

  std::string path;
  std::optional<FileReader> file;
  TraceHeader header;
  TraceStatus status = TraceStatus::running;
  std::int32_t major = 1, minor = 0;  ///< the two numbers of the version
  std::string content_sha256, scenario_sha256;
  Labels labels;
  mutable std::optional<std::vector<Fold>> folds_;
};

void TraceReader::State::read_header() {
  if (!file->has_attribute("/", "filetype") ||
      file->text_attribute("/", "filetype") != "sluice-trace")
    throw Failure("the attribute filetype does not say sluice-trace");
  const auto version = file->integer_attribute("/", "version");
  if (version.size() != 2) throw Failure("the attribute version does not have two numbers");
  if (version[0] < 1 || version[0] > 2)
    throw Failure("its version is " + std::to_string(version[0]) + "; known: 1, 2");
  major = version[0];
  minor = version[1];
  const std::string said = file->text_attribute("/", "status");
  bool known = false;
  for (TraceStatus s : {TraceStatus::complete, TraceStatus::aborted, TraceStatus::failed})
    if (said == name_of(s)) {
      status = s;
      known = true;
    }
  if (!known)
    throw Failure(said == "running"
                      ? "it was never finished (status running)"
                      : "unknown status '" + said + "'; known: complete, aborted, failed");
  header.program_version = file->text_attribute("/", "program_version");
  header.git_sha = file->text_attribute("/", "git_sha");
  // In traces of version 1.0, the attributes about SimGrid belong to the root instead of /provenance. Such traces have
  // no attribute `executor`, because SimGrid was the only executor.
  const char* const place = file->has_attribute("/", "simgrid_version") ? "/" : "/provenance";
  header.executor = file->text_attribute_or("/provenance", "executor", "simgrid");
  header.simgrid_version = file->text_attribute(place, "simgrid_version");
  header.simgrid_settings = file->text_attribute(place, "simgrid_settings");
  header.answer = file->text_attribute_or("/provenance", "answer", "");
  scenario_sha256 = file->text_attribute("/", "scenario_sha256");
  content_sha256 = file->text_attribute("/", "content_sha256");
  header.scenario = file->text("/scenario");
  header.plan = file->text("/plan");
}

const std::vector<Fold>& TraceReader::State::folds() const {
  if (!folds_)
    guarded([&] {
      std::vector<std::int64_t> events;
      for (std::uint32_t p = 0; p < labels.pools.size(); ++p) events.push_back(stored_events(p));
      const auto spans = static_cast<std::int64_t>(file->rows("/spans/start"));
      folds_ = read_folds(*file, spans, events);
    });
  return *folds_;
}

TraceReader::TraceReader(const std::string& path) : state_(std::make_unique<State>(path)) {}
TraceReader::~TraceReader() = default;

const std::string& TraceReader::path() const {
  return state_->path;
}
TraceStatus TraceReader::status() const {
  return state_->status;
}
const TraceHeader& TraceReader::header() const {
  return state_->header;
}
const std::string& TraceReader::content_sha256() const {
  return state_->content_sha256;
}
const std::string& TraceReader::scenario_sha256() const {
  return state_->scenario_sha256;
}
const Labels& TraceReader::labels() const {
  return state_->labels;
}

Summary TraceReader::summary() const {
  return state_->guarded([&] { return read_summary(*state_->file); });
}

SeriesTable TraceReader::series() const {
  return state_->guarded([&] { return read_series(*state_->file, state_->labels); });
}

std::uint64_t TraceReader::span_count() const {
  return state_->guarded([&] {
    std::uint64_t count = state_->file->rows("/spans/start");
    for (const Fold& fold : state_->folds())
      count += static_cast<std::uint64_t>(fold.spans.count * fold.times);
    return count;
  });
}

bool TraceReader::is_folded() const {
  return !state_->folds().empty();
}

void TraceReader::spans(const std::function<void(const std::vector<Span>&)>& take) const {
  const std::uint64_t all = span_count();
  const StoredSpans stored = state_->guarded(
      [&] { return StoredSpans(*state_->file, state_->labels, state_->minor_1_0(), all); });
  const auto hand_over = [&](StoredRows rows) { state_->hand_over<Span>(stored, rows, take); };
  std::int64_t begin = 0;
  for (const Fold& fold : state_->folds()) {
    hand_over({begin, fold.spans.end() - begin});
    begin = fold.spans.end();
    const std::vector<Span> period = state_->guarded([&] { return stored.period(fold); });
    repeat_spans(fold, period, state_->labels, take);
  }
  hand_over({begin, stored.rows() - begin});
}

std::uint64_t TraceReader::event_count(std::uint32_t pool) const {
  return state_->guarded([&] {
    std::int64_t count = state_->stored_events(pool);
    for (const Fold& fold : state_->folds()) count += fold.pools[pool].count * fold.times;
    return static_cast<std::uint64_t>(count);
  });
}

void TraceReader::memory(std::uint32_t pool,
                         const std::function<void(const std::vector<MemoryEvent>&)>& take) const {
  const auto stored_of = [&](std::uint32_t p) {
    return state_->guarded([&] { return StoredEvents(*state_->file, state_->labels, p); });
  };
  const StoredEvents stored = stored_of(pool);
  const auto hand_over = [&](StoredRows rows) {
    state_->hand_over<MemoryEvent>(stored, rows, take);
  };
  std::int64_t begin = 0;
  for (const Fold& fold : state_->folds()) {
    if (fold.pools[pool].count == 0) continue;
    hand_over({begin, fold.pools[pool].end() - begin});
    begin = fold.pools[pool].end();
    std::vector<std::vector<MemoryEvent>> period(fold.pools.size());
    for (std::uint32_t p = 0; p < period.size(); ++p)
      if (fold.pools[p].count > 0) {
        const StoredEvents other = stored_of(p);
        state_->guarded([&] { other.read(fold.pools[p].first, fold.pools[p].count, period[p]); });
      }
    repeat_events(fold, period, pool, take);
  }
  hand_over({begin, stored.rows() - begin});
}

}  // namespace sluice
