#include "profile/match.hpp"

#include <algorithm>
#include <set>

#include "base/suggest.hpp"
#include "profile/cells.hpp"
#include "profile/columns.hpp"

namespace sluice {
namespace {

std::string key_of(const std::string& config, const std::vector<Shape>& inputs,
                   std::string_view dtype, std::string_view pass) {
  return config + '\x1f' + cell::text_of(inputs) + '\x1f' + std::string(dtype) + '\x1f' +
         std::string(pass);
}

/// Returns the shapes of one sample, or nullopt if the first extent of a shape is not the batch.
std::optional<std::vector<Shape>> without_batch(const ProfileRow& row) {
  if (!row.batch) return std::nullopt;
  std::vector<Shape> shapes;
  for (const auto& shape : row.inputs) {
    if (shape.empty() || shape.front() != *row.batch) return std::nullopt;
    shapes.emplace_back(shape.begin() + 1, shape.end());
  }
  return shapes;
}

/// Replaces shapes without extents by the shape "1", because a shape in a profile has at least one extent.
std::vector<Shape> with_extents(std::vector<Shape> shapes) {
  for (Shape& shape : shapes)
    if (shape.empty()) shape = {1};
  return shapes;
}

/// Returns a value in the form that the option `--where` and the key `cost.where` accept. A value with a special
/// character, such as a comma, is put into quotes: without quotes, the value would end at this character.
std::string value_text(const std::string& value) {
  return value.find_first_of(";,:#{}[]") == std::string::npos ? value : '"' + value + '"';
}

}  // namespace

ProfileIndex::ProfileIndex(const Profile& profile) {
  for (const ProfileRow& row : profile.rows) {
    if (row.level != Level::leaf || row.processed != Processed::yes || row.config.empty()) continue;
    const auto inputs = without_batch(row);
    if (!inputs || row.inputs.empty()) continue;
    rows_[key_of(row.config, with_extents(*inputs), row.dtype, row.pass)][*row.batch].push_back(
        &row);
  }
}

const ProfileIndex::ByBatch& ProfileIndex::of(const Layer& layer, std::string_view dtype,
                                              std::string_view pass) const {
  static const ByBatch none;
  for (const std::string_view type : {dtype, std::string_view()}) {
    const auto found =
        rows_.find(key_of(layer.config, with_extents(layer.input_shapes), type, pass));
    if (found != rows_.end()) return found->second;
  }
  return none;
}

ProfileRow row_for(const Layer& layer, std::int64_t samples, std::string_view dtype,
                   std::string_view pass) {
  ProfileRow row;
  row.operator_class = layer.type;
  row.config = layer.config;
  const auto whole_batch = [&](Shape shape) {
    shape.insert(shape.begin(), samples);
    return shape;
  };
  for (const Shape& shape : with_extents(layer.input_shapes))
    row.inputs.push_back(whole_batch(shape));
  row.outputs.push_back(whole_batch(with_extents({layer.shape}).front()));
  row.batch = samples;
  row.dtype = dtype;
  row.pass = pass;
  row.sparsity = layer.sparsity;
  return row;
}

const std::vector<std::string>& columns_of_operators() {
  static const std::vector<std::string> columns = {"operator", "config", "node",  "sizes", "inputs",
                                                   "outputs",  "batch",  "dtype", "model"};
  return columns;
}

void require_alike(const std::vector<const ProfileRow*>& rows, const std::string& what,
                   const std::vector<std::string>& but) {
  for (const ProfileColumn& column : profile_columns()) {
    if (!column.key || std::find(but.begin(), but.end(), column.name) != but.end()) continue;
    std::set<std::string> values;
    for (const ProfileRow* row : rows) values.insert(column.get(*row));
    if (values.size() < 2) continue;
    std::vector<std::string> words;
    for (const std::string& value : values) words.push_back(value.empty() ? "(empty)" : value);
    const std::string one =
        value_text(values.begin()->empty() ? *values.rbegin() : *values.begin());
    throw InputError(what + " measured with " + column.name + " " + join(words, " and ") +
                     "; choose one of these values: with cost.where={" + column.name + ": " + one +
                     "} in a scenario, or with --where '" + column.name + "=" + one +
                     "' on the command line of sluice profile");
  }
}

const ProfileRow& only_row(const std::vector<const ProfileRow*>& rows) {
  require_alike(rows, "the operator was", {"node", "model"});
  std::vector<const ProfileRow*> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProfileRow* a, const ProfileRow* b) {
    return *a->time() < *b->time();
  });
  return *sorted[(sorted.size() - 1) / 2];
}

}  // namespace sluice
