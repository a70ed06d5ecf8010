#include "cost/measured/table.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "cost/fitted/kernels.hpp"
#include "profile/cells.hpp"

namespace sluice {
namespace {

/// Returns the pass under which a profile lists the rows for a query. A profile has no rows for
/// recomputes: a recompute uses the rows of the forward pass.
std::string_view row_pass(Pass pass) {
  return pass == Pass::recompute ? "forward" : name_of(pass);
}

bool is_one_gradient(Pass pass) {
  return pass == Pass::backward_input || pass == Pass::backward_weight;
}

using Rows = std::vector<const ProfileRow*>;

bool same_memory(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// Returns the memories of the operands that the pass reads or writes. `moved` is the member with the bytes that are
/// read or written.
std::vector<std::string> pools_of(const Query& query, double Operand::*moved) {
  std::vector<std::string> pools;
  for (const Operand& operand : query.operands)
    if (operand.*moved > 0)
      pools.push_back(operand.pool.empty() ? query.device.memory().pool : operand.pool);
  return pools;
}

/// Returns whether `pools` are the memories in which a row's operands were measured. Operands that the row does not
/// mention were in the default memory.
bool lie_so(const std::vector<std::string>& pools, const std::vector<std::string>& measured,
            const std::string& by_default) {
  if (measured.size() > pools.size()) return false;
  const auto rest = pools.begin() + static_cast<std::ptrdiff_t>(measured.size());
  return std::equal(pools.begin(), rest, measured.begin(), same_memory) &&
         std::all_of(rest, pools.end(),
                     [&](const std::string& pool) { return same_memory(pool, by_default); });
}

/// Returns whether the row was measured with its operands in the query's memories. An operand without a memory in the
/// query is in the default memory.
bool lies_so(const ProfileRow& row, const Query& query) {
  const std::string& by_default = query.device.memory().pool;
  if (!query.operands.empty())
    return lie_so(pools_of(query, &Operand::read), row.input_pools, by_default) &&
           lie_so(pools_of(query, &Operand::written), row.output_pools, by_default);
  const auto is_default = [&](const std::string& pool) { return same_memory(pool, by_default); };
  return std::all_of(row.input_pools.begin(), row.input_pools.end(), is_default) &&
         std::all_of(row.output_pools.begin(), row.output_pools.end(), is_default);
}

bool is_placed(const ProfileRow* row) {
  return !row->input_pools.empty() || !row->output_pools.empty();
}

/// Takes the rows of an operator that was measured in several placements. Returns the rows for the placement of the
/// query. Rows that name memories take precedence. If no row names a memory, all rows are valid for every placement. If
/// the query names no memories, rows for the default memory are returned. If there are no such rows, all rows are
/// returned, and the caller decides which row counts.
Rows in_place(const Rows& rows, const Query& query) {
  if (std::none_of(rows.begin(), rows.end(), is_placed)) return rows;
  Rows fitting;
  for (const ProfileRow* row : rows)
    if (lies_so(*row, query)) fitting.push_back(row);
  if (fitting.empty() && query.operands.empty()) return rows;
  Rows placed;
  std::copy_if(fitting.begin(), fitting.end(), std::back_inserter(placed), is_placed);
  return placed.empty() ? fitting : placed;
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
      statistic_(std::move(statistic)),
      device_(profile_.text("device")) {}

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
    price.measured_j = price.joules;
    price.joules_s = price.seconds;
  }
  return price;
}

const ProfileRow* MeasuredTable::exact_row(const Query& query, std::string_view pass) const {
  const auto& rows = index_.of(*query.layer, name_of(query.dtype), pass);
  const auto found = rows.find(query.samples);
  if (found == rows.end()) return nullptr;
  const Rows placed = in_place(found->second, query);
  return placed.empty() ? nullptr : &only_row(placed);
}

std::optional<Price> MeasuredTable::exact(const Query& query, std::string_view pass,
                                          double share) const {
  const ProfileRow* row = exact_row(query, pass);
  if (!row) return std::nullopt;
  return price_of_row(*row, query, share);
}

bool MeasuredTable::measured_so(const Query& query) const {
  const auto& rows = index_.of(*query.layer, name_of(query.dtype), row_pass(query.pass));
  const auto found = rows.find(query.samples);
  if (found == rows.end()) return false;
  const Rows placed = in_place(found->second, query);
  return std::any_of(placed.begin(), placed.end(), is_placed);
}

Rows MeasuredTable::rows_by_batch(const Query& query, std::string_view pass) const {
  Rows chosen;
  for (const auto& [batch, rows] : index_.of(*query.layer, name_of(query.dtype), pass))
    if (const Rows placed = in_place(rows, query); !placed.empty())
      chosen.push_back(&only_row(placed));
  if (chosen.size() > 1)
    require_alike(chosen, "for several numbers of samples, the operator was",
                  {"node", "model", "batch", "sizes", "inputs", "outputs"});
  return chosen;
}

Utilisation MeasuredTable::shares_by_batch(const Rows& rows, const Query& query) const {
  std::vector<MeasuredPoint> points;
  for (const ProfileRow* row : rows) {
    const double seconds = *seconds_of(*row);
    const Query then =
        query_of(*query.model, *query.layer, query.pass, *row->batch, query.dtype, query.device);
    const double ideal = ideal_seconds(then.work, query.device, query.dtype);
    if (seconds > 0 && ideal > 0)
      points.push_back({{static_cast<double>(*row->batch)}, ideal / seconds});
  }
  return Utilisation(std::move(points));
}

/// Interpolates between the batches that were measured: the share of the device's rates that the operator reaches.
std::optional<Price> MeasuredTable::by_batch(const Query& query, std::string_view pass) const {
  const Rows rows = rows_by_batch(query, pass);
  if (rows.empty()) return std::nullopt;
  const auto share = shares_by_batch(rows, query).share({static_cast<double>(query.samples)});
  if (!share) return std::nullopt;
  return Price{.seconds = ideal_seconds(query.work, query.device, query.dtype) / *share,
               .flop = query.work.flop,
               .bytes = query.work.bytes};
}

const SharesBySize& MeasuredTable::shares(const Device& device, DType dtype) const {
  const std::lock_guard<std::mutex> held(mutex_);
  const std::string name = device.name + " " + std::string(name_of(dtype));
  const auto known = shares_.find(name);
  if (known != shares_.end()) return known->second;
  return shares_
      .try_emplace(name, profile_, device, dtype,
                   [this](const ProfileRow& row) { return seconds_of(row); })
      .first->second;
}

/// Prices forward passes and recomputes of layers that launch one kernel of a measured class. Attention is not priced
/// here, because it launches several kernels.
std::optional<Price> MeasuredTable::by_sizes(const Query& query) const {
  if (query.pass != Pass::forward && query.pass != Pass::recompute) return std::nullopt;
  const std::vector<Kernel> kernels = kernels_of(query, AttentionKernels::eager);
  if (kernels.size() != 1) return std::nullopt;
  const auto share = shares(query.device, query.dtype).share(kernels.front());
  if (!share) return std::nullopt;
  return Price{.seconds = ideal_seconds(kernels.front(), query.device, query.dtype) / *share,
               .flop = query.work.flop,
               .bytes = query.work.bytes};
}

std::map<std::string, LeftOut> MeasuredTable::sizes_left_out(const Device& device,
                                                             DType dtype) const {
  return shares(device, dtype).left_out();
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

const std::string& MeasuredTable::device_of(const ProfileRow& row) const {
  return row.device.empty() ? device_ : row.device;
}

LeftOut MeasuredTable::left_out(const Query& query, const std::string& of) const {
  const SharesBySize& all = shares(query.device, query.dtype);
  const std::lock_guard<std::mutex> held(mutex_);
  const std::string name = query.device.name + " " + std::string(name_of(query.dtype)) + " " + of;
  const auto known = left_out_.find(name);
  return known != left_out_.end() ? known->second : left_out_[name] = all.left_out(of);
}

std::optional<Grounds> MeasuredTable::grounds(const Query& query) const {
  const std::optional<Price> found = price(query);
  if (!found) return std::nullopt;
  Grounds grounds{.of = query.layer->type, .seconds = found->seconds};
  const std::string_view pass = row_pass(query.pass);
  const ProfileRow* row = exact_row(query, pass);
  if (!row && is_one_gradient(query.pass)) row = exact_row(query, "backward");
  if (row) {
    grounds.measured = true;
    grounds.on = device_of(*row);
    return grounds;
  }
  grounds.interpolated = true;
  LeftOut error;
  if (by_batch(query, pass)) {
    const Rows rows = rows_by_batch(query, pass);
    grounds.on = device_of(*rows.front());
    error = shares_by_batch(rows, query).left_out();
  } else {
    const Kernel kernel = kernels_of(query, AttentionKernels::eager).front();
    const std::string& device = shares(query.device, query.dtype).device(kernel.of);
    grounds.on = device.empty() ? device_ : device;
    error = left_out(query, kernel.of);
  }
  grounds.median = error.rows > 0 ? error.median : std::nan("");
  grounds.ninety = error.ninetieth;
  return grounds;
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
    text += " with its inputs in " + join(pools_of(query, &Operand::read), ";") +
            " and its outputs in " + join(pools_of(query, &Operand::written), ";") +
            "; it was measured with";
    for (const ProfileRow* row : found->second)
      text += (row == found->second.front() ? " " : ", ") + join(row->input_pools, ";") + " and " +
              join(row->output_pools, ";");
  } else if (!rows.empty()) {
    text +=
        "; it was measured for " + batches_text(rows) + " samples: use one of these micro-batches";
    if (interpolation_ == Interpolation::none)
      text += ", or use cost.interpolate=batch for a micro-batch between them";
  }
  return text + "; or use cost.outside=roofline, which names a cost model for such layers";
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
