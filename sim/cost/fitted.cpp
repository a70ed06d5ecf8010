// The cost model `fitted`. The seconds of a kernel come from its sizes, by a fit of similar measured kernels.
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "cost/cost.hpp"
#include "cost/fitted/document.hpp"
#include "cost/fitted/kernels.hpp"
#include "cost/fitted/sheet.hpp"
#include "cost/memory_power.hpp"
#include "cost/memory_seconds.hpp"
#include "cost/part_price.hpp"
#include "document/bundled.hpp"
#include "document/key.hpp"
#include "document/roots.hpp"

namespace sluice {
namespace {

/// Holds the fits that have been read, and finds a fit by its file or its name. Each fit is read once.
class Fits {
 public:
  explicit Fits(std::string file) : file_(std::move(file)) {
    if (!file_.empty()) get(file_);
  }

  std::vector<CostFile> files(const Platform& platform) const {
    if (!file_.empty()) return {{"cost.file", file_, "fits"}};
    std::vector<CostFile> files;
    for (const Device& device : platform.devices) {
      const bool known = std::any_of(files.begin(), files.end(),
                                     [&](const CostFile& file) { return file.path == device.fit; });
      const std::string name = device.fit.substr(device.fit.find_last_of('/') + 1);
      if (!known && !device.fit.empty()) files.push_back({"the fit " + name, device.fit, "fits"});
    }
    return files;
  }

  const Fit& of(const Device& device) const {
    if (!file_.empty()) return get(file_);
    if (device.fit.empty())
      throw InputError(
          "device '" + device.name +
          "' has no key 'fit', but the cost model 'fitted' needs a fit. Add this key, or name a fit with cost: {model: "
          "fitted, file: …}. `sluice profile fit` makes a fit");
    return get(device.fit);
  }

 private:
  const Fit& get(const std::string& file) const {
    const std::lock_guard lock(mutex_);
    auto found = read_.find(file);
    if (found == read_.end()) found = read_.emplace(file, load_fit(file)).first;
    return found->second;
  }

  std::string file_;
  mutable std::mutex mutex_;
  // In a map, references to elements stay valid when elements are added.
  mutable std::map<std::string, Fit> read_;
};

/// Returns the cost model for operators of classes that were not fitted.
std::shared_ptr<const Cost> roofline_with(double memory_power) {
  Value keys = Value::make_map();
  keys.set("memory_power", Value::make(memory_power));
  return plain_cost("roofline", std::move(keys)).object;
}

/// Returns the device's data sheet for a query. Some operands may be outside of the device's default memory. Then the
/// bytes take longer, by the factor `slowness` of the sheet.
Sheet sheet_for(const Query& query) {
  Sheet sheet = sheet_of(query.device, query.dtype);
  if (query.operands.empty() || !(query.work.bytes > 0)) return sheet;
  Query at_home = query;
  at_home.operands.clear();
  sheet.slowness = memory_seconds(query, /*side_by_side=*/false) /
                   memory_seconds(at_home, /*side_by_side=*/false);
  return sheet;
}

struct Fitted final : Cost {
  Fits fits;
  bool refuses;
  AttentionKernels attention;
  double memory_power;
  std::shared_ptr<const Cost> roofline;

  Fitted(const Reader& keys, std::string file)
      : fits(std::move(file)),
        refuses(keys.text("unfitted") == "refuse"),
        attention(keys.text("attention") == "fused" ? AttentionKernels::fused
                                                    : AttentionKernels::eager),
        memory_power(keys.number("memory_power")),
        roofline(roofline_with(memory_power)) {}

  Price of(const Query& query) const override {
    const Price price = price_of_kernels(query);
    const std::optional<Query> whole = query_of_whole(query);
    return whole ? at_least(price, share_of_whole(query) * price_of_kernels(*whole).seconds)
                 : price;
  }

  std::vector<CostFile> files(const Platform& platform) const override {
    return fits.files(platform);
  }

  std::vector<Grounds> grounds(const Query& query) const override {
    const std::vector<Kernel> kernels = kernels_of(query, attention);
    const Fit& fit = fits.of(query.device);
    if (!all_fitted(fit, kernels, query))
      return {{.of = query.layer ? query.layer->type : "update", .seconds = of(query).seconds}};
    const Sheet sheet = sheet_for(query);
    const bool seen = fit.saw(sheet);
    std::vector<Grounds> all;
    for (const Kernel& kernel : kernels) {
      const ClassFit& of_class = *fit.find(kernel.of, query.dtype);
      const FitError& error =
          !seen && of_class.device_error ? *of_class.device_error : of_class.time_error;
      const bool covered = of_class.covers(kernel);
      // The error of the fit on the measured devices says nothing about another device.
      const bool known = covered && error.count > 0 && (seen || of_class.device_error);
      all.push_back({.of = kernel.of,
                     .seconds = of_class.seconds_of(kernel, sheet),
                     .fitted = true,
                     .inside = seen && covered,
                     .median = known ? error.median : std::nan(""),
                     .ninety = error.ninety});
    }
    raise_to(of(query).seconds, all);
    return all;
  }

 private:
  Price price_of_kernels(const Query& query) const {
    const std::vector<Kernel> kernels = kernels_of(query, attention);
    const Fit& fit = fits.of(query.device);
    if (!all_fitted(fit, kernels, query)) return roofline->of(query);
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    double by_memory_s = 0;
    const Sheet sheet = sheet_for(query);
    for (const Kernel& kernel : kernels) {
      const ClassFit& of_class = *fit.find(kernel.of, query.dtype);
      const double seconds = of_class.seconds_of(kernel, sheet);
      price.seconds += seconds;
      if (!of_class.joules) {
        if (is_bound_by_memory(kernel, sheet, of_class.seconds.parameters)) by_memory_s += seconds;
        continue;
      }
      // The measured joules include the energy of the idle device. The price of an action must not include this energy,
      // so it is subtracted.
      const double idle = query.device.idle_w * seconds;
      price.joules += std::max(0.0, of_class.joules_of(kernel, seconds) - idle);
      price.joules_s += seconds;
    }
    take_memory_power(price, by_memory_s, memory_power, query.device);
    return price;
  }

  bool all_fitted(const Fit& fit, const std::vector<Kernel>& kernels, const Query& query) const {
    for (const Kernel& kernel : kernels) {
      if (fit.find(kernel.of, query.dtype)) continue;
      if (!refuses) return false;
      refuse(fit, kernel, query);
    }
    return true;
  }

  [[noreturn]] static void refuse(const Fit& fit, const Kernel& kernel, const Query& query) {
    std::vector<std::string> known;
    for (const ClassFit& of_class : fit.classes)
      known.push_back(of_class.name + " in " + std::string(name_of(of_class.dtype)));
    throw InputError((query.layer ? "layer '" + query.layer->name + "'" : "an update") +
                     " is of the class '" + kernel.of + "', which the fit '" + fit.name +
                     "' does not have in " + std::string(name_of(query.dtype)) + "; it has " +
                     join(known) +
                     ". Use cost.unfitted=roofline to price such operators by roofline");
  }
};

}  // namespace

extern const CostModel fitted_cost = {
    .name = "fitted",
    .summary =
        "The kernels of a layer take the seconds that a fit of similar measured kernels gives for their sizes.",
    .details =
        "Use `fitted` for a device with a fit, and for sizes that were not measured. The seconds grow in steps, "
        "because a kernel that needs one more tile or wave takes longer. A part of a split layer takes at least its share "
        "of the seconds of the whole layer. The answer says how large the errors of the "
        "fit are for rows that the fit has not seen. This cost model needs a fit of measurements on the device or on a "
        "similar device.",
    .source =
        "Lee et al., Forecasting GPU performance for deep learning training and inference "
        "(ASPLOS 2025), section 4: tiles and waves. fits/FORMAT.md has the formula",
    .example =
        "sluice run alexnet_resident platform=a100_pcie 'cost={model: fitted, unfitted: roofline}'",
    .parameters =
        {Key::text(
             "file",
             "a sluice-fit/1 document, or the name of a bundled fit. The default is the device's own `fit`")
             .or_absent(),
         Key::choice(
             "unfitted", {"refuse", "roofline"},
             "what happens to layers of a class without a fit: `refuse` refuses them. `roofline` prices them by "
             "roofline, and the answer says so")
             .by_default("refuse"),
         Key::choice(
             "attention", {"eager", "fused"},
             "the kernels of attention: `eager` has one kernel per operation and keeps the scores in memory. "
             "`fused` has kernels only for the products: of queries and keys, of scores and values, and for "
             "the gradients of both products")
             .by_default("eager"),
         memory_power_field()},
    .make = [](const Reader& keys, const std::string& folder) -> std::shared_ptr<const Cost> {
      std::string file = keys.has("file") ? keys.text("file") : "";
      if (!file.empty()) file = named_file_or_word(*keys.value("file"), folder);
      if (file.empty()) return std::make_shared<const Fitted>(keys, file);
      return read_named(*keys.value("file"),
                        [&] { return std::make_shared<const Fitted>(keys, std::move(file)); });
    },
    .counts_memories = true,
    .knows_backward = true,
};

}  // namespace sluice
