#include "profile/link_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice {
namespace {

struct Copy {
  double bytes = 0, seconds = 0;
};

bool is_host_memory(const std::string& pool) {
  return pool == "pinned" || pool == "pageable" || pool == "host";
}

double bytes_of(const Profile& profile, const ProfileRow& row) {
  if (const auto bytes = row.size("bytes")) return static_cast<double>(*bytes);
  profile.fail(
      row, "this copy does not say how many bytes it copies: expected bytes=N in the column sizes");
}

/// Returns the direction of a copy, and the kind of its host memory. Exactly one end of a copy must be host memory.
std::pair<std::string, std::string> way_of(const Profile& profile, const ProfileRow& row) {
  const std::string from = row.input_pools.empty() ? "" : row.input_pools.front();
  const std::string to = row.output_pools.empty() ? "" : row.output_pools.front();
  if (is_host_memory(from) == is_host_memory(to))
    profile.fail(row, "a copy from '" + from + "' to '" + to +
                          "': expected device in one of the columns input_pools and "
                          "output_pools, and pinned, pageable or host in the other column");
  const std::string& memory = is_host_memory(from) ? from : to;
  return {is_host_memory(from) ? "down" : "up", memory == "host" ? "pinned" : memory};
}

/// Fits t = a + b s to the copies: t is seconds, and s is bytes. Finds the a >= 0 and the b for which the sum of
/// ((a + b s) / t - 1)^2 is smallest. If b is not above 0, the result has no valid bandwidth, and fit_of() refuses it.
CopyFit fitted(const std::vector<Copy>& copies) {
  double uu = 0, uv = 0, vv = 0, u = 0, v = 0;
  for (const Copy& copy : copies) {
    const double a = 1 / copy.seconds, b = copy.bytes / copy.seconds;
    uu += a * a;
    uv += a * b;
    vv += b * b;
    u += a;
    v += b;
  }
  double constant = (u * vv - v * uv) / (uu * vv - uv * uv);
  double per_byte = (v * uu - u * uv) / (uu * vv - uv * uv);
  if (constant < 0) constant = 0, per_byte = v / vv;
  CopyFit fit{.rows = copies.size(), .constant_s = constant, .bandwidth = 1 / per_byte};
  std::vector<double> errors;
  for (const Copy& copy : copies)
    errors.push_back(std::abs((constant + per_byte * copy.bytes) / copy.seconds - 1));
  fit.median_error = median_of(errors);
  fit.worst_error = *std::max_element(errors.begin(), errors.end());
  return fit;
}

CopyFit fit_of(const std::vector<Copy>& copies, const std::string& what) {
  const auto [least, most] = std::minmax_element(
      copies.begin(), copies.end(), [](const Copy& a, const Copy& b) { return a.bytes < b.bytes; });
  if (copies.size() < 2 || least->bytes == most->bytes)
    throw InputError(
        "copies (" + what +
        ") were measured in only one size. A fit of set-up and bandwidth needs at least two sizes: measure "
        "several sizes, such as ten sizes from 1 kB to 1 GB");
  const CopyFit fit = fitted(copies);
  if (!(fit.bandwidth > 0) || !std::isfinite(fit.bandwidth))
    throw InputError(
        "larger copies (" + what +
        ") do not take longer than smaller copies: the bandwidth of these copies is unknown");
  return fit;
}

Value text(std::string words) {
  return Value::make(std::move(words));
}

Value bandwidth(double bytes_per_s) {
  return text(exact(std::round(bytes_per_s)) + "B/s");
}

Value seconds(double seconds) {
  return text(exact(seconds) + "s");
}

/// Adds bandwidth and set-up to the keys of a link. `base` is the link that these keys change. A link must not have
/// both a bandwidth and a share of a bandwidth. So if `base` has a share, the new bandwidth is written as a share of
/// the bandwidth `whole`. Parameter `whole` is the bandwidth of the link for pinned copies.
void add_rates(Value& into, const LinkDirection& one, const Value* base, double whole) {
  if (base && base->find("share"))
    into.set("share", Value::make(one.fit.bandwidth / whole));
  else
    into.set("bandwidth", bandwidth(one.fit.bandwidth));
  into.set("setup", seconds(one.setup_s()));
}

/// Adds the rates of one kind of memory. Parameter `base` is the link that the new keys change, or null. If only one
/// direction was measured, and `base` has no key `up`, the rates are for both directions. Otherwise the rates of the
/// upward direction are written under the key `up`, if that direction was measured.
void add_directions(Value& into, const LinkDirection* down, const LinkDirection* up,
                    const Value* base, double whole) {
  add_rates(into, down ? *down : *up, base, whole);
  const Value* base_up = base ? base->find("up") : nullptr;
  if (!up || (!down && !base_up)) return;
  Value other = Value::make_map();
  add_rates(other, *up, base_up, whole);
  into.set("up", std::move(other));
}

/// Returns the link of this name in the platform. If the platform is a variant of other platforms, the result includes
/// the keys that these platforms give for the link.
Value link_of(const std::string& platform, const std::string& link) {
  const Value document = load_document(find_document(platform, "platforms"), "platforms");
  const Value* links = document.find("links");
  std::vector<std::string> known;
  if (links && links->is_map())
    for (const Value::Entry& entry : links->entries()) {
      if (entry.key == link) return entry.value;
      known.push_back(entry.key);
    }
  throw InputError("the platform '" + platform + "' has no link '" + link + "'" +
                   did_you_mean(link, known) +
                   "; use --link to name one of its links: " + join(known));
}

/// Returns the bandwidth that the platform gives for the link `base`, whose name is `link`. Pinned copies keep this
/// bandwidth if none of them were measured.
double own_bandwidth(const Value& base, const std::string& link) {
  const Value* said = base.find("bandwidth");
  if (!said || !said->is_scalar())
    throw InputError(
        "only copies of pageable memory were measured, and nothing gives the bandwidth of the link '" +
        link +
        "' for pinned memory: measure pinned copies, too, or name a platform with this bandwidth, such as "
        "--platform a100_pcie");
  return parse_quantity(said->text(), Dimension::bytes_per_s);
}

const LinkDirection* find(const std::vector<LinkDirection>& all, const std::string& direction,
                          const std::string& memory) {
  for (const LinkDirection& one : all)
    if (one.direction == direction && one.memory == memory) return &one;
  return nullptr;
}

}  // namespace

double LinkDirection::latency_s() const {
  return single ? std::max(0.0, single->constant_s - fit.constant_s) : 0;
}

std::vector<LinkDirection> fit_link(const Profile& profile) {
  std::map<std::pair<std::string, std::string>, std::map<bool, std::vector<Copy>>> copies;
  for (const ProfileRow& row : profile.rows) {
    if (row.operator_class != "copy" || !row.time() || *row.time() == 0) continue;
    copies[way_of(profile, row)][row.method == "queued"].push_back(
        {bytes_of(profile, row), *row.time()});
  }
  if (copies.empty())
    throw InputError("'" + profile.path +
                     "' holds no copies: expected rows whose operator is copy, with sizes bytes=N, "
                     "input_pools, output_pools and a time");
  std::vector<LinkDirection> all;
  for (const auto& [way, by_method] : copies) {
    LinkDirection one{.direction = way.first, .memory = way.second};
    const std::string what = one.direction + ", " + one.memory;
    const bool queued = by_method.count(true) != 0;
    one.fit = fit_of(by_method.at(queued), what);
    if (queued && by_method.count(false) != 0) one.single = fit_of(by_method.at(false), what);
    all.push_back(std::move(one));
  }
  return all;
}

Value link_document(const std::vector<LinkDirection>& directions, const std::string& link,
                    const std::string& joins, const std::string& platform) {
  Value made = Value::make_map();
  const Value base = platform.empty() ? Value::make_map() : link_of(platform, link);
  if (platform.empty()) {
    made.set("joins", list({"host", joins}));
  }
  const LinkDirection *down = find(directions, "down", "pinned"),
                      *up = find(directions, "up", "pinned");
  const LinkDirection *pageable_down = find(directions, "down", "pageable"),
                      *pageable_up = find(directions, "up", "pageable");
  const bool pinned = down || up;
  if (pinned) add_directions(made, down, up, &base, (down ? down : up)->fit.bandwidth);
  if (pageable_down || pageable_up) {
    Value pageable = Value::make_map();
    add_directions(pageable, pageable_down, pageable_up, base.find("pageable"),
                   pinned ? (down ? down : up)->fit.bandwidth : own_bandwidth(base, link));
    made.set("pageable", std::move(pageable));
  }
  if (!pinned) made.set("copies", text("pageable"));
  double latency = 0;
  for (const LinkDirection& one : directions)
    if (!pinned || one.memory == "pinned") latency = std::max(latency, one.latency_s());
  if (latency > 0) made.set("latency", seconds(latency));
  Value links = Value::make_map(), document = Value::make_map();
  links.set(link, std::move(made));
  if (!platform.empty()) {
    document.set("format", text("sluice-platform/1"));
    document.set("file", text(platform));
  }
  document.set("links", std::move(links));
  return document;
}

}  // namespace sluice
