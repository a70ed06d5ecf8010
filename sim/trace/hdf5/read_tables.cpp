#include "trace/hdf5/read_tables.hpp"

#include <string>
#include <utility>
#include <vector>

#include "trace/hdf5/columns.hpp"

namespace sluice {

using hdf5::Failure;

namespace {

void check_size(std::size_t size, std::size_t expected, const std::string& table) {
  if (size != expected) throw Failure("/labels/" + table + " has columns of unequal length");
}

std::vector<std::string> names(const FileReader& file, const std::string& table) {
  return file.texts("/labels/" + table + "/name");
}

void read_streams(const FileReader& file, Labels& labels) {
  const auto stream_names = names(file, "streams");
  const auto kinds = file.texts("/labels/streams/kind");
  const auto devices = file.texts("/labels/streams/device");
  check_size(kinds.size(), stream_names.size(), "streams");
  check_size(devices.size(), stream_names.size(), "streams");
  for (std::size_t i = 0; i < stream_names.size(); ++i)
    labels.streams.push_back({stream_names[i], kinds[i], devices[i]});
}

void read_pools(const FileReader& file, Labels& labels) {
  const auto pool_names = names(file, "pools");
  const auto capacity = file.column<std::int64_t>("/labels/pools/capacity");
  check_size(capacity.size(), pool_names.size(), "pools");
  for (std::size_t i = 0; i < pool_names.size(); ++i)
    labels.pools.push_back({pool_names[i], capacity[i]});
}

void read_tensors(const FileReader& file, Labels& labels) {
  const auto tensor_names = names(file, "tensors"), classes = names(file, "classes");
  const auto tensor_class = file.column<std::uint8_t>("/labels/tensors/class");
  const auto bytes = file.column<std::int64_t>("/labels/tensors/bytes");
  check_size(tensor_class.size(), tensor_names.size(), "tensors");
  check_size(bytes.size(), tensor_names.size(), "tensors");
  for (std::size_t i = 0; i < tensor_names.size(); ++i)
    labels.tensors.push_back(
        {tensor_names[i], classes[within(tensor_class[i], classes.size(), "class")], bytes[i]});
}

void read_actions(const FileReader& file, Labels& labels) {
  const auto action_names = names(file, "actions"), action_kinds = names(file, "kinds"),
             sections = names(file, "sections");
  Columns columns(file, "/labels/actions");
  for (const char* name : {"kind", "section", "stream", "stage", "micro_batch", "bytes", "flop"})
    columns.open(name);
  check_size(columns.rows(), action_names.size(), "actions");
  labels.actions.resize(action_names.size());
  auto& actions = labels.actions;
  const std::size_t n = actions.size();
  for (std::size_t i = 0; i < n; ++i) actions[i].name = action_names[i];
  columns.read<std::uint8_t>(0, 0, n, [&](std::size_t i, std::uint8_t code) {
    actions[i].kind = action_kinds[within(code, action_kinds.size(), "kind")];
  });
  columns.read<std::uint8_t>(1, 0, n, [&](std::size_t i, std::uint8_t code) {
    actions[i].section = sections[within(code, sections.size(), "section")];
  });
  columns.read<std::uint32_t>(2, 0, n, [&](std::size_t i, std::uint32_t stream) {
    actions[i].stream = within(stream, labels.streams.size(), "stream");
  });
  columns.read<std::int32_t>(3, 0, n, [&](auto i, auto value) { actions[i].stage = value; });
  columns.read<std::int32_t>(4, 0, n, [&](auto i, auto value) { actions[i].micro_batch = value; });
  columns.read<std::int64_t>(5, 0, n, [&](auto i, auto value) { actions[i].bytes = value; });
  columns.read<double>(6, 0, n, [&](auto i, auto value) { actions[i].flop = value; });
}

/// Reads all numbers below a group of the summary. The key of a number is the list of the path's steps from the group
/// to the number.
void read_keyed(const FileReader& file, const std::string& path, std::vector<std::string> key,
                std::vector<SummaryValue::Keyed>& out) {
  if (key.size() > 8) throw Failure(path + " is nested too deeply");
  for (const std::string& step : file.members(path)) {
    const std::string place = hdf5::below(path, step);
    key.push_back(hdf5::unescaped(step));
    if (file.is_group(place))
      read_keyed(file, place, key, out);
    else
      out.push_back({key, file.number(place)});
    key.pop_back();
  }
}

/// Reads utilisation from a trace of version 1.0. Such a trace has a dataset for each stream, with the stream's name.
std::vector<double> utilisation_by_name(const FileReader& file, const Labels& labels,
                                        std::size_t bins) {
  std::vector<double> all;
  for (const Labels::Stream& stream : labels.streams) {
    const auto one =
        file.column<double>(hdf5::below("/series/utilisation", hdf5::escaped(stream.name)));
    if (one.size() != bins)
      throw Failure("/series/utilisation and /series/time have different numbers of bins");
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::vector<double> read_utilisation(const FileReader& file, const Labels& labels,
                                     std::size_t bins) {
  if (!file.has("/series/utilisation")) return {};
  if (file.is_group("/series/utilisation")) return utilisation_by_name(file, labels, bins);
  return file.matrix("/series/utilisation", labels.streams.size(), bins);
}

}  // namespace

Labels read_labels(const FileReader& file) {
  Labels labels;
  read_streams(file, labels);
  read_pools(file, labels);
  read_tensors(file, labels);
  labels.stages = names(file, "stages");
  read_actions(file, labels);
  return labels;
}

Summary read_summary(const FileReader& file) {
  Summary summary;
  for (const std::string& step : file.members("/summary")) {
    const std::string path = "/summary/" + step;
    Summary::Metric metric{hdf5::unescaped(step),
                           file.text_attribute_or(path, "units", ""),
                           file.text_attribute_or(path, "long_name", ""),
                           {}};
    if (file.is_group(path)) {
      metric.value.kind = SummaryValue::Kind::keyed;
      read_keyed(file, path, {}, metric.value.keyed);
    } else if (file.is_text(path)) {
      metric.value = SummaryValue::of(file.text(path));
    } else {
      metric.value = SummaryValue::of(file.number(path));
      metric.value.absent = file.text_attribute_or(path, "absent", "");
    }
    summary.metrics.push_back(std::move(metric));
  }
  return summary;
}

SeriesTable read_series(const FileReader& file, const Labels& labels) {
  SeriesTable table;
  table.width = file.number_attribute("/series", "bin_width_s");
  table.time = file.column<double>("/series/time");
  table.utilisation = read_utilisation(file, labels, table.time.size());
  for (const std::string& step : file.members("/series")) {
    if (step == "time" || step == "stream" || step == "utilisation") continue;
    const std::string path = "/series/" + step;
    table.series.push_back({hdf5::unescaped(step), file.text_attribute_or(path, "units", ""),
                            file.text_attribute_or(path, "long_name", ""),
                            file.column<double>(path)});
  }
  return table;
}

}  // namespace sluice
