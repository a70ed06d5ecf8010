// The cost model `measured`. A layer takes the seconds that were measured for this layer. The measured seconds are in
// the model's file or in a profile.

#include "cost/cost.hpp"
#include "cost/measured/table.hpp"
#include "cost/memory_power.hpp"
#include "cost/part_price.hpp"
#include "document/key.hpp"
#include "document/roots.hpp"
#include "profile/compare.hpp"

namespace sluice {
namespace {

bool goes_forward(Pass pass) {
  return pass == Pass::forward || pass == Pass::recompute;
}

/// If memory limits the operator, adds joules for those seconds of the price that have no joules yet. In these seconds,
/// the device takes less power than while it computes.
Price with_memory_power(Price price, double share, const Query& query) {
  if (share < 1 && is_bound_by_memory(query.work, query.device, query.dtype))
    take_memory_power(price, price.seconds - price.joules_s, share, query.device);
  return price;
}

/// Prices the passes of a layer by the seconds that the network's own file gives for this layer.
struct MeasuredModel final : Cost {
  double memory_power;

  explicit MeasuredModel(double memory_power_) : memory_power(memory_power_) {}

  Price of(const Query& query) const override {
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    if (!query.layer) {  // A model's file has no seconds for an update of weights.
      price.seconds = peak_seconds(query.work, query.device, query.dtype);
      return price;
    }
    if (!does_work(*query.layer, query.pass)) return price;
    const std::optional<double>& seconds =
        goes_forward(query.pass) ? query.layer->forward_s : query.layer->backward_s;
    if (!seconds || query.model->measured_batch != query.samples) refuse(query);
    price.seconds = price.measured_s = *seconds * share_of(query.layer->backward, query.pass);
    return with_memory_power(price, memory_power, query);
  }

  std::vector<Grounds> grounds(const Query& query) const override {
    if (!query.layer || query.model->measured_batch != query.samples) return {};
    return {{.of = query.layer->type, .seconds = of(query).seconds, .measured = true}};
  }

  std::int64_t only_samples(const Model& model) const override { return model.measured_batch; }

 private:
  [[noreturn]] static void refuse(const Query& query) {
    const std::string name = "layer '" + query.layer->name + "'";
    const std::string pass = goes_forward(query.pass) ? "forward" : "backward";
    const std::int64_t batch = query.model->measured_batch;
    if (batch == 0)
      throw InputError(
          "the cost model 'measured' needs measured seconds, but the model does not give them: " +
          name + " has no '" + pass +
          "'; use cost.profile=FILE to name a profile that has these seconds");
    if (batch != query.samples)
      throw InputError(
          name + " was measured for " + std::to_string(batch) +
          " samples, but the micro-batch has " + std::to_string(query.samples) +
          " samples; measured seconds are not interpolated: expected a micro-batch of " +
          std::to_string(batch));
    throw InputError(name + " has no measured seconds of the " + pass + " pass for " +
                     std::to_string(query.samples) + " samples");
  }
};

/// Takes prices from the rows of a profile. A layer without a row is priced by another cost model, or is refused.
struct MeasuredProfile final : Cost {
  MeasuredProfile(std::string path, Profile profile, Interpolation interpolation,
                  const std::string& statistic, std::shared_ptr<const Cost> outside,
                  double memory_power)
      : path_(std::move(path)),
        table_(std::move(profile), interpolation, statistic),
        outside_(std::move(outside)),
        memory_power_(memory_power) {}

  Price of(const Query& query) const override {
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    if (!query.layer) {
      if (outside_) return outside_->of(query);
      price.seconds = peak_seconds(query.work, query.device, query.dtype);
      return price;
    }
    if (!does_work(*query.layer, query.pass)) return price;
    const std::optional<Price> found = known(query);
    if (!found) throw InputError(table_.why_not(query));
    if (found->measured_s > 0) return *found;
    const std::optional<Query> whole = query_of_whole(query);
    const std::optional<Price> of_whole = whole ? known(*whole) : std::nullopt;
    return of_whole ? at_least(*found, share_of_whole(query) * of_whole->seconds) : *found;
  }

  bool measured_so(const Query& query) const override {
    if (!query.layer || !does_work(*query.layer, query.pass)) return false;
    return table_.measured_so(query) || (outside_ && outside_->measured_so(query));
  }

  std::int64_t only_samples(const Model& model) const override {
    return outside_ ? 0 : table_.only_samples(model);
  }

  Shares shares(const Device& device) const override {
    return outside_ ? outside_->shares(device) : Shares{};
  }

  std::vector<Grounds> grounds(const Query& query) const override {
    if (!query.layer || !does_work(*query.layer, query.pass)) return {};
    std::vector<Grounds> all;
    if (auto found = seen(query, &MeasuredTable::grounds)) {
      all.push_back(std::move(*found));
    } else if (outside_) {
      all = outside_->grounds(query);
      if (all.empty()) all.push_back({.seconds = outside_->of(query).seconds});
    }
    if (query.layer->whole && !all.empty()) raise_to(of(query).seconds, all);
    return all;
  }

  std::vector<CostFile> files(const Platform& platform) const override {
    std::vector<CostFile> files = {{"cost.profile", path_}};
    if (outside_)
      for (CostFile& file : outside_->files(platform)) files.push_back(std::move(file));
    return files;
  }

 private:
  /// Returns the price from the table of the profile, or else from the cost model that the key `outside` names. Returns
  /// nothing if the table has no price and the key names no cost model.
  std::optional<Price> known(const Query& query) const {
    if (const auto found = seen(query, &MeasuredTable::price))
      return with_memory_power(*found, memory_power_, query);
    return outside_ ? std::optional(outside_->of(query)) : std::nullopt;
  }

  /// Calls price() or grounds() of the table and returns the result. If the table throws an InputError, adds the name
  /// of the layer to the message.
  template <class Seen>
  std::optional<Seen> seen(const Query& query,
                           std::optional<Seen> (MeasuredTable::*says)(const Query&) const) const {
    try {
      return (table_.*says)(query);
    } catch (const InputError& error) {
      throw InputError("layer '" + query.layer->name + "': " + error.what());
    }
  }

  std::string path_;
  MeasuredTable table_;
  std::shared_ptr<const Cost> outside_;
  double memory_power_;
};

/// Returns the rows of the profile that the key `where` selects.
Profile chosen_rows(const Reader& keys, const std::string& path) {
  Profile profile = load_profile(path);
  const Value* where = keys.value("where");
  if (!where) return profile;
  for (const Value::Entry& entry : where->entries())
    located(entry.value, [&] { profile = rows_where(profile, entry.key, entry.value.text()); });
  return profile;
}

std::shared_ptr<const Cost> outside_of(const Reader& keys) {
  const std::string name = keys.text("outside");
  if (name == "refuse") return nullptr;
  if (name == "measured" || !cost_catalog().find_or_null(name)) {
    std::vector<std::string> known = {"refuse"};
    for (const CostModel* model : cost_catalog().entries())
      if (model->name != "measured") known.push_back(model->name);
    keys.fail("outside", "'" + name + "' for 'outside'" + did_you_mean(name, known) +
                             ": expected one of " + join(known));
  }
  Value its_keys = Value::make_map();
  if (find_field(cost_catalog().find(name).parameters, memory_power_field().name))
    its_keys.set(memory_power_field().name, Value::make(keys.number("memory_power")));
  return plain_cost(name, std::move(its_keys)).object;
}

std::shared_ptr<const Cost> make(const Reader& keys, const std::string& folder) {
  if (!keys.has("profile")) {
    for (const char* key : {"where", "interpolate", "outside", "statistic"})
      if (keys.has(key))
        keys.fail(key, std::string("'") + key + "' needs a profile: give profile: FILE as well");
    return std::make_shared<const MeasuredModel>(keys.number("memory_power"));
  }
  const std::string path = named_file(*keys.value("profile"), folder);
  Profile profile = read_named(*keys.value("profile"), [&] { return chosen_rows(keys, path); });
  const std::string between = keys.text("interpolate");
  const Interpolation interpolation = between == "batch"   ? Interpolation::batch
                                      : between == "sizes" ? Interpolation::sizes
                                                           : Interpolation::none;
  return std::make_shared<const MeasuredProfile>(path, std::move(profile), interpolation,
                                                 keys.text("statistic"), outside_of(keys),
                                                 keys.number("memory_power"));
}

}  // namespace

extern const CostModel measured_cost = {
    .name = "measured",
    .summary =
        "A layer takes the seconds and joules that were measured for this layer and this number of samples. The "
        "measurements come from a profile. Without a profile, they come from the model's file. Updates of weights "
        "belong to no layer. They are priced by the cost model that `outside` names. Without `outside`, they are "
        "priced by `peak`.",
    .details =
        "Use `measured` when the operators of the model were measured on the device. An operator in the profile has "
        "exactly its measured seconds and joules. All other operators are refused, interpolated or priced by another "
        "cost model. The keys `interpolate` and `outside` choose one of the three. Without interpolation, this cost "
        "model has no prices for sizes that were not measured.",
    .source =
        "Narayanan et al., PipeDream (SOSP 2019), section 3.1; Braun et al., A simple model for "
        "portable and fast prediction of execution time and power consumption of GPU kernels (2020)",
    .example =
        "sluice run alexnet_resident 'cost={model: measured, profile: mine.csv, outside: roofline}'",
    .parameters =
        {Key::text("profile", "a profile (sim/profile/FORMAT.md), relative to the scenario")
             .or_absent(),
         Key::mapping(
             "where",
             "use only rows of the profile with this value in a column, such as {cache: hot}")
             .or_absent(),
         Key::choice(
             "interpolate", {"none", "batch", "sizes"},
             "`none` interpolates nothing. `batch` interpolates between rows with other batches. `sizes` also "
             "interpolates between rows of the same operator class with other sizes")
             .by_default("none"),
         Key::text(
             "outside",
             "the cost model for layers that were not measured. With `refuse`, such a layer is an error")
             .by_default("refuse"),
         Key::choice(
             "statistic", {"median", "mean", "mean_within", "least"},
             "the price is this statistic of a row's samples: the median, the mean, the mean of the samples within 3 "
             "standard deviations, or the least sample")
             .by_default("median"),
         memory_power_field()},
    .make = make,
    .counts_memories = true,
    .knows_backward = true,
};

}  // namespace sluice
