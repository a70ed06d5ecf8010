#include "cost/measured/table.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "profile/cells.hpp"
#include "profile/classes.hpp"

namespace sluice {
namespace {

/// The pass under which rows are listed: a recompute is a forward pass.
std::string_view row_pass(Pass pass) {
  return pass == Pass::recompute ? "forward" : name_of(pass);
}

bool is_one_gradient(Pass pass) {
  return pass == Pass::backward_input || pass == Pass::backward_weight;
}

/// Matrix products, whose rows have m, n and k.
bool is_matrix_product(const std::string& operator_class) {
  const std::string of = class_of_operator(operator_class);
  return of == "linear" || of == "bmm";
}

std::optional<std::vector<double>> product_sizes(const ProfileRow& row) {
  const auto m = row.size("m"), n = row.size("n"), k = row.size("k");
  if (!m || !n || !k || !is_matrix_product(row.operator_class) || row.pass != "forward" ||
      row.sparsity > 0)
    return std::nullopt;
  const std::int64_t b = row.size("b").value_or(1);
  if (b < 1 || *m < 1 || *n < 1 || *k < 1) return std::nullopt;
  return std::vector<double>{static_cast<double>(b), static_cast<double>(*m),
                             static_cast<double>(*n), static_cast<double>(*k)};
}

/// The sizes m, n, k of a product with one matrix of weights: each element of the output is a sum
/// of k products.
std::optional<std::vector<double>> product_sizes(const Query& query) {
  const Layer& layer = *query.layer;
  if ((layer.type != "dense" && layer.type != "matmul") || layer.macs == 0 || layer.shape.empty() ||
      (query.pass != Pass::forward && query.pass != Pass::recompute))
    return std::nullopt;
  const auto n = static_cast<double>(layer.type == "dense" ? layer.output : layer.shape.back());
  const double m = static_cast<double>(query.samples) * static_cast<double>(layer.output) / n;
  return std::vector<double>{1, m, n,
                             static_cast<double>(layer.macs) / static_cast<double>(layer.output)};
}

Work product_work(const std::vector<double>& s, DType dtype) {
  const double b = s[0], m = s[1], n = s[2], k = s[3];
  return {.flop = 2 * b * m * n * k,
          .bytes = static_cast<double>(bytes_of(dtype)) * b * (m * k + k * n + m * n)};
}

using Rows = std::vector<const ProfileRow*>;

bool same_memory(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// The memories of the operands that the pass reads, or of those that it writes, in order.
std::vector<std::string> pools_of(const Query& query, bool written) {
  std::vector<std::string> pools;
  for (const Operand& operand : query.operands)
    if ((written ? operand.written : operand.read) > 0)
      pools.push_back(operand.pool.empty() ? query.device.memory().pool : operand.pool);
  return pools;
}

bool begins_with(const std::vector<std::string>& pools, const std::vector<std::string>& measured) {
  return measured.size() <= pools.size() &&
         std::equal(measured.begin(), measured.end(), pools.begin(), same_memory);
}

/// Whether the row was measured with the operands in these memories. An operand is in the default
/// memory where the query does not say otherwise.
bool lies_so(const ProfileRow& row, const Query& query) {
  if (!query.operands.empty())
    return begins_with(pools_of(query, false), row.input_pools) &&
           begins_with(pools_of(query, true), row.output_pools);
  const auto is_default = [&](const std::string& pool) {
    return same_memory(pool, query.device.memory().pool);
  };
  return std::all_of(row.input_pools.begin(), row.input_pools.end(), is_default) &&
         std::all_of(row.output_pools.begin(), row.output_pools.end(), is_default);
}

bool is_placed(const ProfileRow* row) {
  return !row->input_pools.empty() || !row->output_pools.empty();
}

/// Of an operator's rows in several placements, those in the placement of the query. Rows that do
/// not mention memories suit every placement. Where the query does not mention memories and no row
/// is in the default memory, all rows remain, and the caller decides which counts.
Rows in_place(const Rows& rows, const Query& query) {
  if (std::none_of(rows.begin(), rows.end(), is_placed)) return rows;
  Rows placed;
  for (const ProfileRow* row : rows)
    if (is_placed(row) && lies_so(*row, query)) placed.push_back(row);
  if (placed.empty() && query.operands.empty()) return rows;
  if (placed.empty())
    for (const ProfileRow* row : rows)
      if (!is_placed(row)) placed.push_back(row);
  return placed;
}

std::string batches_text(const ProfileIndex::ByBatch& rows) {
  std::vector<std::string> words;
  for (const auto& [batch, unused] : rows) words.push_back(std::to_string(batch));
  return join(words);
}

}  // namespace

double ideal_seconds(const Work& work, const Device& device, DType dtype) {
  const double moving = device.memory().bandwidth() ? work.bytes / *device.memory().bandwidth() : 0;
  return std::max(peak_seconds(work, device, dtype), moving);
}

MeasuredTable::MeasuredTable(Profile profile, Interpolation interpolation, std::string statistic)
    : profile_(std::move(profile)),
      index_(profile_),
      interpolation_(interpolation),
      statistic_(std::move(statistic)) {}

std::optional<double> MeasuredTable::seconds_of(const ProfileRow& row) const {
  if (statistic_ == "mean" && row.seconds.mean) return row.seconds.mean;
  if (statistic_ == "mean_within" && !row.seconds.samples.empty())
    return spread_of(row.seconds.samples).mean_within;
  if (statistic_ == "least" && !row.seconds.samples.empty())
    return spread_of(row.seconds.samples).least;
  return row.time();
}

Price MeasuredTable::price_of_row(const ProfileRow& row, const Query& query, double share) const {
  Price price{.flop = query.work.flop, .bytes = query.work.bytes};
  price.seconds = price.measured_s = *seconds_of(row) * share;
  if (const auto joules = row.energy()) {
    const double idle =
        profile_.joules_above_idle() ? 0 : profile_.idle_w().value_or(query.device.idle_w);
    price.joules = std::max(0.0, *joules * share - idle * price.seconds);
    price.joules_s = price.seconds;
  }
  return price;
}

std::optional<Price> MeasuredTable::exact(const Query& query, std::string_view pass,
                                          double share) const {
  const auto& rows = index_.of(*query.layer, name_of(query.dtype), pass);
  const auto found = rows.find(query.samples);
  if (found == rows.end()) return std::nullopt;
  const Rows placed = in_place(found->second, query);
  if (placed.empty()) return std::nullopt;
  return price_of_row(only_row(placed), query, share);
}

bool MeasuredTable::measured_so(const Query& query) const {
  const auto& rows = index_.of(*query.layer, name_of(query.dtype), row_pass(query.pass));
  const auto found = rows.find(query.samples);
  if (found == rows.end()) return false;
  const Rows placed = in_place(found->second, query);
  return std::any_of(placed.begin(), placed.end(), is_placed);
}

/// Interpolates the share of the rates between the batches that were measured.
std::optional<Price> MeasuredTable::by_batch(const Query& query, std::string_view pass) const {
  std::vector<MeasuredPoint> points;
  for (const auto& [batch, rows] : index_.of(*query.layer, name_of(query.dtype), pass)) {
    const Rows placed = in_place(rows, query);
    if (placed.empty()) continue;
    const double seconds = *seconds_of(only_row(placed));
    const Query then =
        query_of(*query.model, *query.layer, query.pass, batch, query.dtype, query.device);
    const double ideal = ideal_seconds(then.work, query.device, query.dtype);
    if (seconds > 0 && ideal > 0) points.push_back({{static_cast<double>(batch)}, ideal / seconds});
  }
  if (points.empty()) return std::nullopt;
  const auto share = Utilisation(points).share({static_cast<double>(query.samples)});
  if (!share) return std::nullopt;
  return Price{.seconds = ideal_seconds(query.work, query.device, query.dtype) / *share,
               .flop = query.work.flop,
               .bytes = query.work.bytes};
}

const Utilisation& MeasuredTable::products(const Device& device, DType dtype) const {
  const std::lock_guard<std::mutex> held(mutex_);
  const std::string name = device.name + " " + std::string(name_of(dtype));
  const auto known = products_.find(name);
  if (known != products_.end()) return known->second;
  std::map<std::vector<double>, std::vector<double>> by_sizes;
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : profile_.rows) {
    const auto sizes = product_sizes(row);
    if (!sizes || row.level != Level::leaf || !row.time() || !(*seconds_of(row) > 0) ||
        (!row.dtype.empty() && row.dtype != name_of(dtype)))
      continue;
    rows.push_back(&row);
    by_sizes[*sizes].push_back(*seconds_of(row));
  }
  require_alike(
      rows, "products of matrices were",
      {"operator", "config", "node", "sizes", "inputs", "outputs", "batch", "dtype", "model"});
  std::vector<MeasuredPoint> points;
  for (const auto& [sizes, seconds] : by_sizes)
    points.push_back(
        {sizes, ideal_seconds(product_work(sizes, dtype), device, dtype) / median_of(seconds)});
  return products_.emplace(name, Utilisation(std::move(points))).first->second;
}

std::optional<Price> MeasuredTable::by_sizes(const Query& query) const {
  const auto sizes = product_sizes(query);
  if (!sizes) return std::nullopt;
  const Utilisation& measured = products(query.device, query.dtype);
  if (measured.rows() == 0) return std::nullopt;
  const auto share = measured.share(*sizes);
  if (!share) return std::nullopt;
  const Work work = product_work(*sizes, query.dtype);
  return Price{.seconds = ideal_seconds(work, query.device, query.dtype) / *share,
               .flop = query.work.flop,
               .bytes = query.work.bytes};
}

LeftOut MeasuredTable::sizes_left_out(const Device& device, DType dtype) const {
  const Utilisation& measured = products(device, dtype);
  return measured.rows() > 2 ? measured.left_out() : LeftOut{};
}

std::optional<Price> MeasuredTable::price(const Query& query) const {
  const std::string_view pass = row_pass(query.pass);
  if (const auto price = exact(query, pass, 1)) return price;
  if (is_one_gradient(query.pass))
    if (const auto price = exact(query, "backward", share_of(query.layer->backward, query.pass)))
      return price;
  if (interpolation_ == Interpolation::none) return std::nullopt;
  if (const auto price = by_batch(query, pass)) return price;
  if (interpolation_ == Interpolation::sizes) return by_sizes(query);
  return std::nullopt;
}

std::string MeasuredTable::why_not(const Query& query) const {
  const Layer& layer = *query.layer;
  const auto& rows = index_.of(layer, name_of(query.dtype), row_pass(query.pass));
  const ProfileRow wanted =
      row_for(layer, query.samples, name_of(query.dtype), row_pass(query.pass));
  std::string text = "layer '" + layer.name + "' (" + layer.config + ", inputs " +
                     cell::text_of(wanted.inputs) + ", " + wanted.dtype + ", " + wanted.pass +
                     ") was not measured";
  if (!profile_.path.empty()) text += " in '" + profile_.path + "'";
  if (const auto found = rows.find(query.samples); found != rows.end()) {
    text += " with what it reads in " + join(pools_of(query, false), ";") +
            " and what it writes in " + join(pools_of(query, true), ";") + "; it was with";
    for (const ProfileRow* row : found->second)
      text += (row == found->second.front() ? " " : ", ") + join(row->input_pools, ";") + " and " +
              join(row->output_pools, ";");
  } else if (!rows.empty()) {
    text += "; it was for " + batches_text(rows) + " samples: expected a micro-batch of those";
    if (interpolation_ == Interpolation::none) text += ", or cost.interpolate=batch between them";
  }
  return text + "; or name a cost model for it: cost.outside=roofline";
}

std::int64_t MeasuredTable::only_samples(const Model& model) const {
  if (interpolation_ != Interpolation::none) return 0;
  std::optional<std::int64_t> only;
  for (const Layer& layer : model.layers) {
    if (!does_work(layer, Pass::forward)) continue;
    for (const std::string& dtype : dtype_names()) {
      const auto& rows = index_.of(layer, dtype, "forward");
      if (rows.empty()) continue;
      if (rows.size() > 1 || (only && *only != rows.begin()->first)) return 0;
      only = rows.begin()->first;
    }
  }
  return only.value_or(0);
}

}  // namespace sluice
