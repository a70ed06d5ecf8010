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
#include "trace/hdf5/columns.hpp"
#include "trace/hdf5/file_reader.hpp"
#include "trace/hdf5/read_tables.hpp"

namespace sluice {

namespace {

using hdf5::Failure;

constexpr std::uint64_t block_rows = 32768;

/// The file can be read, is a file (a pipe would wait for ever), and nobody is writing it.
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

  std::string path;
  std::optional<FileReader> file;
  TraceHeader header;
  TraceStatus status = TraceStatus::running;
  std::int32_t minor = 0;  ///< of the version
  std::string content_sha256, scenario_sha256;
  Labels labels;
};

void TraceReader::State::read_header() {
  if (!file->has_attribute("/", "filetype") ||
      file->text_attribute("/", "filetype") != "sluice-trace")
    throw Failure("the attribute filetype does not say sluice-trace");
  const auto version = file->integer_attribute("/", "version");
  if (version.size() != 2 || version[0] != 1)
    throw Failure("its version is " + std::to_string(version[0]) + "; known: 1");
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
  // Until 1.0 they stood at the root, and SimGrid was the only executor.
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
  return state_->guarded([&] { return state_->file->rows("/spans/start"); });
}

void TraceReader::spans(const std::function<void(const std::vector<Span>&)>& take) const {
  Columns columns(*state_->file, "/spans");
  state_->guarded([&] {
    for (const char* name :
         {"start", "end", "available", "waited", "action", "iteration", "reason", "blocker"})
      columns.open(name);
    if (state_->minor >= 1) columns.open("cause");
  });
  const std::size_t actions = state_->labels.actions.size(), pools = state_->labels.pools.size();
  std::vector<Span> block;
  for (std::uint64_t begin = 0; begin < columns.rows(); begin += block_rows) {
    const std::size_t n = std::min(block_rows, columns.rows() - begin);
    block.assign(n, Span{});
    state_->guarded([&] {
      columns.read<double>(0, begin, n, [&](auto i, auto v) { block[i].start = v; });
      columns.read<double>(1, begin, n, [&](auto i, auto v) { block[i].end = v; });
      columns.read<double>(2, begin, n, [&](auto i, auto v) { block[i].available = v; });
      columns.read<double>(3, begin, n, [&](auto i, auto v) { block[i].waited = v; });
      columns.read<std::uint32_t>(
          4, begin, n, [&](auto i, auto v) { block[i].action = within(v, actions, "action"); });
      columns.read<std::int64_t>(5, begin, n, [&](auto i, auto v) { block[i].iteration = v; });
      columns.read<std::uint8_t>(6, begin, n, [&](auto i, auto v) {
        block[i].reason = static_cast<WaitReason>(within(v, 3, "reason"));
      });
      columns.read<std::uint32_t>(7, begin, n, [&](auto i, auto v) {
        const bool memory = block[i].reason == WaitReason::memory;
        block[i].blocker = v == Span::nobody ? v : within(v, memory ? pools : actions, "blocker");
      });
      if (state_->minor >= 1)
        columns.read<std::int64_t>(8, begin, n, [&](auto i, auto v) {
          block[i].cause = v == -1 ? v : within(v, columns.rows(), "span");
        });
    });
    take(block);
  }
}

std::uint64_t TraceReader::event_count(std::uint32_t pool) const {
  return state_->guarded([&] {
    return state_->file->rows("/memory/" + hdf5::escaped(state_->labels.pools.at(pool).name) +
                              "/time");
  });
}

void TraceReader::memory(std::uint32_t pool,
                         const std::function<void(const std::vector<MemoryEvent>&)>& take) const {
  Columns columns(*state_->file, "/memory/" + hdf5::escaped(state_->labels.pools.at(pool).name));
  state_->guarded([&] {
    for (const char* name : {"time", "level", "delta", "tensor"}) columns.open(name);
  });
  const std::size_t tensors = state_->labels.tensors.size();
  std::vector<MemoryEvent> block;
  for (std::uint64_t begin = 0; begin < columns.rows(); begin += block_rows) {
    const std::size_t n = std::min(block_rows, columns.rows() - begin);
    block.assign(n, MemoryEvent{});
    state_->guarded([&] {
      columns.read<double>(0, begin, n, [&](auto i, auto v) { block[i].time = v; });
      columns.read<std::int64_t>(1, begin, n, [&](auto i, auto v) { block[i].level = v; });
      columns.read<std::int64_t>(2, begin, n, [&](auto i, auto v) { block[i].delta = v; });
      columns.read<std::uint32_t>(
          3, begin, n, [&](auto i, auto v) { block[i].tensor = within(v, tensors, "tensor"); });
    });
    for (MemoryEvent& event : block) event.pool = pool;
    take(block);
  }
}

}  // namespace sluice
