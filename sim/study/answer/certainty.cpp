#include <algorithm>
#include <cmath>

#include "base/figures.hpp"
#include "base/suggest.hpp"
#include "platform/written.hpp"
#include "study/answer/asked.hpp"

namespace sluice {
namespace {

using Path = std::vector<std::string>;

Path path_of(const std::string& text) {
  Path path;
  std::size_t begin = 0;
  for (std::size_t dot; (dot = text.find('.', begin)) != std::string::npos; begin = dot + 1)
    path.push_back(text.substr(begin, dot - begin));
  path.push_back(text.substr(begin));
  return path;
}

/// The figures of a platform, and which of them are assumed, because they have no source.
class Figures {
 public:
  explicit Figures(const Scenario& scenario) : document_(scenario.document.find("platform")) {
    has_source_ = document_ && document_->find("source");
    if (const Value* assumed = document_ ? document_->find("assumed") : nullptr)
      for (const Value& said : assumed->items()) assumed_.push_back(said.text());
  }

  /// Remembers those of the given figures that are assumed. Returns true if there is at least one.
  bool assumed(const std::vector<std::string>& figures) {
    bool any = false;
    for (const std::string& figure : figures)
      if (const std::string said = assumed_as(figure); !said.empty()) {
        any = true;
        note(said);
      }
    return any;
  }

  /// Remembers a figure as assumed, whatever the platform says about it.
  void note(const std::string& figure) {
    if (std::find(noted_.begin(), noted_.end(), figure) == noted_.end()) noted_.push_back(figure);
  }
  const std::vector<std::string>& noted() const { return noted_; }

  bool has(const std::string& figure) const { return find(figure) != nullptr; }
  /// Returns one path for each kind of device, such as "devices.gpu".
  std::vector<std::string> devices() const {
    std::vector<std::string> paths;
    for (const WrittenPart& device : parts("devices")) paths.push_back(device.path);
    return paths;
  }
  std::vector<WrittenPart> parts(const char* kind) const {
    return document_ ? written_parts(*document_, kind) : std::vector<WrittenPart>{};
  }

 private:
  const Value* find(const std::string& figure) const {
    const Value* value = document_;
    for (const std::string& key : path_of(figure)) value = value ? value->find(key) : nullptr;
    return value;
  }

  /// If a figure is assumed, returns the path under which the answer lists it. If the platform names no source, or an
  /// override sets the figure, this path is the figure's own path. Otherwise, it is the entry of the platform's list
  /// `assumed` that covers the figure. If the figure is not assumed or does not exist, returns "".
  std::string assumed_as(const std::string& figure) const {
    const Value* value = find(figure);
    if (!value) return "";
    const Path path = path_of(figure);
    if (value->source() && value->source()->name.find('=') != std::string::npos) return figure;
    if (!has_source_) return figure;
    for (const std::string& said : assumed_) {
      const Path prefix = path_of(said);
      if (prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin()))
        return said;
    }
    return "";
  }

  const Value* document_;
  bool has_source_ = false;
  std::vector<std::string> assumed_, noted_;
};

/// The cost model reads some of a device's figures, such as its rates. Returns the paths of these figures for all
/// devices, such as "devices.gpu.memory.bandwidth". A device reaches only a share of its rates. If this share is
/// assumed, its path is added to `shares_assumed`. A share is assumed if a key of `cost` sets it, or if nothing sets it
/// and the whole rate counts as reached.
std::vector<std::string> device_figures(const Scenario& scenario, const ChosenCost& cost,
                                        const Figures& figures,
                                        std::vector<std::string>& shares_assumed) {
  const Shares shares = cost->shares(scenario.platform.devices.front());
  std::vector<std::string> read;
  for (const std::string& device : figures.devices()) {
    read.push_back(device + ".rate." + std::string(name_of(scenario.workload.dtype)));
    read.push_back(device + ".efficiency");
    if (!shares.memory) {
      if (!figures.has(device + ".efficiency")) shares_assumed.push_back("cost.model=peak");
      continue;
    }
    read.push_back(device + ".memory.bandwidth");
    read.push_back(device + ".memory.by_threads");
    for (const char* part : {"compute", "memory"}) {
      const std::string own = std::string(part) + "_efficiency";
      const std::string share = device + ".roofline." + part;
      if (cost.model.keys.map().find(own))
        shares_assumed.push_back("cost." + own);
      else if (figures.has(share))
        read.push_back(share);
      else
        shares_assumed.push_back(device + ".roofline");
    }
  }
  return read;
}

/// A device may use a memory of the platform directly, without a link. Returns the paths of the figures of such
/// memories.
std::vector<std::string> shared_memory_figures(const Scenario& scenario, const Figures& figures) {
  std::vector<std::string> read;
  for (const WrittenPart& memory : figures.parts("memories")) {
    const auto is_reached = [&](const Device& device) {
      return std::any_of(device.memories.begin(), device.memories.end(),
                         [&](const DeviceMemory& reached) {
                           return !reached.own && part_called({memory}, reached.pool) != nullptr;
                         });
    };
    const auto& devices = scenario.platform.devices;
    if (std::none_of(devices.begin(), devices.end(), is_reached)) continue;
    for (const char* key : {".bandwidth", ".read", ".write", ".by_threads"})
      read.push_back(memory.path + key);
  }
  return read;
}

/// Returns the paths of the figures that determine the rate of a channel such as "host.gpu0.down". A link may give
/// figures at several places: for all copies, for pageable copies, for synchronous copies, and in each of these places
/// for one direction. Each place for one direction follows its place for both. Of the figures that hold for the channel,
/// the last in this order counts (platform/link_rates.cpp). If it is a `share`, the rate is this share of the link's
/// bandwidth, so the bandwidth counts, too.
std::vector<std::string> figures_of(const Figures& platform, const std::string& channel) {
  const std::vector<WrittenPart> links = platform.parts("links");
  const std::string name = channel.substr(0, channel.find('.'));
  const WrittenPart* written = part_called(links, name);
  const std::string link = written ? written->path : "links." + name;
  std::vector<std::string> places{link};
  const Value* copies = written ? written->keys->find("copies") : nullptr;
  if (copies && copies->is_scalar() && copies->text() == "pageable")
    places.push_back(link + ".pageable");
  const std::string by_compute = ".synchronous";
  std::string way = channel;
  if (way.ends_with(by_compute)) {
    way.resize(way.size() - by_compute.size());
    places.push_back(link + by_compute);
  }
  const std::string direction = way.substr(way.rfind('.') + 1);
  std::vector<std::string> figures{link + ".bandwidth"};
  for (const std::string& both : places)
    for (const std::string& place : {both, both + "." + direction}) {
      if (platform.has(place + ".bandwidth")) figures = {place + ".bandwidth"};
      if (platform.has(place + ".share")) figures = {link + ".bandwidth", place + ".share"};
    }
  return figures;
}

/// The origin of those seconds of computation that no row of a profile gives. The two numbers are shares of these
/// seconds. The remaining share depends on the platform's figures.
struct DerivedShares {
  /// The share that is fitted to measurements, or interpolated between them. The note `fitted_share` reports it, too.
  double known = 0;
  /// The share that is computed as a multiple of the seconds of forward passes.
  double multiple = 0;
};

DerivedShares derived_shares(const Scenario& scenario, const Account& account) {
  if (!(account.seconds > 0)) return {.known = scenario.cost.name() == "fitted" ? 1.0 : 0.0};
  const double rest = 1 - account.measured, known = account.fitted + account.interpolated;
  if (rest < 1e-9) return {};  // Every layer is measured, and only the updates of weights are not.
  return {.known = known > rest - 1e-9 ? 1 : known / rest, .multiple = account.multiple / rest};
}

double finite_or_zero(double number) {
  return std::isfinite(number) ? number : 0;
}

}  // namespace

Account account_of(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  BackwardCounted backward{.any = workload.training.has_value()};
  if (backward.any) backward.multiple = workload.training->backward;
  return account_of(*scenario.cost, scenario.model, scenario.platform.devices.front(),
                    workload.dtype, workload.micro_batch, backward);
}

Certainty certainty_of(const Scenario& scenario, const Summary& summary) {
  Certainty found;
  const Account account = account_of(scenario);
  if (account.seconds > 0) found.account = account;
  Figures figures(scenario);
  const double compute = finite_or_zero(summary.number("compute_s"));
  const double measured = compute * finite_or_zero(summary.number("measured_share"));
  found.measured = measured;
  const DerivedShares derived = derived_shares(scenario, account);
  const double fitted = (compute - measured) * derived.known;
  const double multiple = (compute - measured) * derived.multiple;
  found.sourced = fitted;
  found.assumed = multiple;
  if (multiple > 0) figures.note("workload.backward");
  const double by_rates = compute - measured - fitted - multiple;
  const bool computes = by_rates > 1e-12 * compute;
  const ChosenCost cost = scenario.cost.name() == "fitted" ? plain_cost("roofline") : scenario.cost;
  std::vector<std::string> shares_assumed;
  std::vector<std::string> read = device_figures(scenario, cost, figures, shares_assumed);
  if (cost->shares(scenario.platform.devices.front()).memory)
    for (std::string& figure : shared_memory_figures(scenario, figures))
      read.push_back(std::move(figure));
  if (computes)
    for (const std::string& figure : shares_assumed) figures.note(figure);
  const bool by_figures = computes && (figures.assumed(read) || !shares_assumed.empty());
  (by_figures ? found.assumed : found.sourced) += by_rates;
  if (const Summary::Metric* links = summary.find("transfer_s_by_link"))
    for (const SummaryValue::Keyed& keyed : links->value.keyed) {
      if (!(keyed.number > 0)) continue;
      const bool assumed = figures.assumed(figures_of(figures, keyed.key.front()));
      (assumed ? found.assumed : found.sourced) += keyed.number;
    }
  const double all = found.measured + found.sourced + found.assumed;
  if (all > 0)
    for (double Certainty::*part : {&Certainty::measured, &Certainty::sourced, &Certainty::assumed})
      found.*part /= all;
  found.figures = figures.noted();
  return found;
}

std::string certainty_text(const Certainty& certainty) {
  std::string text = percent(certainty.measured) + " measured, " + percent(certainty.sourced) +
                     " on sourced figures, " + percent(certainty.assumed) + " on assumed ones";
  if (!certainty.figures.empty()) text += " (" + join(certainty.figures) + ")";
  return text;
}

}  // namespace sluice
