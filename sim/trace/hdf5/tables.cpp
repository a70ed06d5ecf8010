#include "trace/hdf5/tables.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "trace/hdf5/table.hpp"

namespace sluice {

std::uint8_t Codes::of(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    if (names_.size() == 256) throw InternalError("more than 256 different codes in a column");
    names_.push_back(name);
    return static_cast<std::uint8_t>(names_.size() - 1);
  }
  return static_cast<std::uint8_t>(found - names_.begin());
}

namespace {

void write_names(Tree& tree, ChunkFilter& filter, const std::string& group,
                 const std::string& dimension, const std::vector<std::string>& names) {
  Table table(tree, filter, group, names.size());
  table.texts("name", "name by code",
              [&](std::size_t i) -> const std::string& { return names[i]; });
  table.dimension(dimension);
}

void write_places(Tree& tree, ChunkFilter& filter, const Labels& labels) {
  const auto& streams = labels.streams;
  Table stream(tree, filter, "/labels/streams", streams.size());
  stream.texts(
      "name", "stream", [&](std::size_t i) -> auto& { return streams[i].name; });
  stream.texts(
      "kind", "compute or copy", [&](std::size_t i) -> auto& { return streams[i].kind; });
  stream.texts(
      "device",
      "the device it belongs to", [&](std::size_t i) -> auto& { return streams[i].device; });
  stream.dimension("stream");

  const auto& pools = labels.pools;
  Table pool(tree, filter, "/labels/pools", pools.size());
  pool.texts(
      "name", "memory pool", [&](std::size_t i) -> auto& { return pools[i].name; });
  pool.numbers<std::int64_t>("capacity", "byte", "capacity; -1: unlimited",
                             [&](std::size_t i) { return pools[i].capacity; });
  pool.dimension("pool");
}

void write_tensors(Tree& tree, ChunkFilter& filter, const std::vector<Labels::Tensor>& tensors) {
  Codes classes;
  Table table(tree, filter, "/labels/tensors", tensors.size());
  table.texts(
      "name", "tensor", [&](std::size_t i) -> auto& { return tensors[i].name; });
  table.numbers<std::uint8_t>("class", "", "class, a row of /labels/classes",
                              [&](std::size_t i) { return classes.of(tensors[i].tensor_class); });
  table.numbers<std::int64_t>("bytes", "byte", "size",
                              [&](std::size_t i) { return tensors[i].bytes; });
  table.dimension("tensor");
  write_names(tree, filter, "/labels/classes", "class", classes.names());
}

void write_action_numbers(Table& table, const std::vector<Labels::Action>& actions,
                          const std::vector<ActionCodes>& codes) {
  table.numbers<std::uint8_t>("kind", "", "kind, a row of /labels/kinds",
                              [&](std::size_t i) { return codes[i].kind; });
  table.numbers<std::uint8_t>("section", "", "section, a row of /labels/sections",
                              [&](std::size_t i) { return codes[i].section; });
  table.numbers<std::uint32_t>("stream", "", "stream, a row of /labels/streams",
                               [&](std::size_t i) { return codes[i].stream; });
  table.numbers<std::int32_t>("stage", "", "stage, a row of /labels/stages; -1: none",
                              [&](std::size_t i) { return codes[i].stage; });
  table.numbers<std::int32_t>("micro_batch", "", "micro-batch; -1: none",
                              [&](std::size_t i) { return codes[i].micro_batch; });
  table.numbers<std::int64_t>("bytes", "byte", "moved by a transfer",
                              [&](std::size_t i) { return actions[i].bytes; });
  table.numbers<double>("flop", "FLOP", "of a compute action",
                        [&](std::size_t i) { return actions[i].flop; });
}

}  // namespace

std::vector<ActionCodes> codes_of(const std::vector<Labels::Action>& actions, Codes& kinds,
                                  Codes& sections) {
  std::vector<ActionCodes> codes;
  codes.reserve(actions.size());
  for (const auto& a : actions)
    codes.push_back({a.stream, a.stage, a.micro_batch, kinds.of(a.kind), sections.of(a.section)});
  return codes;
}

struct LabelWriter::State {
  static constexpr std::size_t rows_a_piece = 8192;

  void begin() {
    tree.group("/labels");
    write_places(tree, filter, labels);
    write_tensors(tree, filter, labels.tensors);
    write_names(tree, filter, "/labels/stages", "stage", labels.stages);
    write_names(tree, filter, "/labels/reasons", "reason", {"none", "data", "memory"});
    actions.emplace(tree, filter, "/labels/actions", labels.actions.size());
    names.emplace(tree, actions->path("name"), labels.actions.size(), "action");
    actions->add("name");
  }

  void append_names() {
    std::vector<const char*> values;
    for (; values.size() < rows_a_piece && row < labels.actions.size(); ++row)
      values.push_back(labels.actions[row].name.c_str());
    names->append(values);
  }

  void end() {
    names->finish();
    write_action_numbers(*actions, labels.actions, codes);
    actions->dimension("action");
    write_names(tree, filter, "/labels/kinds", "kind", kinds.names());
    write_names(tree, filter, "/labels/sections", "section", sections.names());
  }

  Tree& tree;
  ChunkFilter& filter;
  const Labels& labels;
  const std::vector<ActionCodes>& codes;
  const Codes &kinds, &sections;
  std::optional<Table> actions = {};
  std::optional<Tree::Texts> names = {};
  std::size_t row = 0;
};

LabelWriter::LabelWriter(Tree& tree, ChunkFilter& filter, const Labels& labels,
                         const std::vector<ActionCodes>& codes, const Codes& kinds,
                         const Codes& sections)
    : state_(new State{tree, filter, labels, codes, kinds, sections}) {}

LabelWriter::~LabelWriter() = default;

bool LabelWriter::step() {
  if (!state_->names) {
    state_->begin();
  } else if (state_->row < state_->labels.actions.size()) {
    state_->append_names();
  } else {
    state_->end();
    return false;
  }
  return true;
}

void write_summary(Tree& tree, const Summary& summary) {
  tree.group("/summary");
  for (const Summary::Metric& metric : summary.metrics) {
    const SummaryValue& value = metric.value;
    const std::string path = "/summary/" + hdf5::escaped(metric.name);
    if (value.kind == SummaryValue::Kind::number) {
      tree.number(path, value.number, metric.unit, metric.summary);
      if (std::isnan(value.number)) tree.attribute(path, "absent", value.absent);
      continue;
    }
    if (value.kind == SummaryValue::Kind::text) {
      tree.text(path, value.text);
    } else {
      tree.group(path);
      if (!metric.unit.empty()) tree.attribute(path, "units", metric.unit);
    }
    tree.attribute(path, "long_name", metric.summary);
    std::set<std::string> groups;
    for (const auto& keyed : value.keyed) {
      std::string place = path;
      for (std::size_t i = 0; i < keyed.key.size(); ++i) {
        place += "/" + hdf5::escaped(keyed.key[i]);
        if (i + 1 < keyed.key.size() && groups.insert(place).second) tree.group(place);
      }
      tree.number(place, keyed.number, metric.unit, "");
    }
  }
}

void write_series(Tree& tree, ChunkFilter& filter, const SeriesTable& table) {
  const std::size_t bins = table.time.size();
  Table root(tree, filter, "/series", bins);
  tree.attribute("/series", "bin_width_s", table.width);
  root.numbers<double>("time", "s", "end of the bin", [&](std::size_t i) { return table.time[i]; });
  for (const SeriesTable::Series& series : table.series)
    root.numbers<double>(hdf5::escaped(series.name), series.unit, series.summary,
                         [&](std::size_t i) { return series.values[i]; });
  root.scale("time");
  if (table.utilisation.empty()) return;
  write_matrix(tree, filter, "/series/utilisation", table.utilisation, bins, "1",
               "busy share of the bin, by stream: a row of /labels/streams");
  tree.dimension("/series", "stream", table.utilisation.size() / bins, {"utilisation"});
  tree.scale("/series", "time", {"utilisation"}, 1);
}

}  // namespace sluice
