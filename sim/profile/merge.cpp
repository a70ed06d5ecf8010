#include "profile/merge.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/quantity.hpp"
#include "profile/columns.hpp"

namespace sluice {
namespace {

/// Combines n, mean and std of the samples of two rows. The new std comes from the squared deviations of all samples
/// from the common mean.
void pool_moments(Statistics& into, const Statistics& a, const Statistics& b) {
  const double n_a = a.n.value_or(1), n_b = b.n.value_or(1), n = n_a + n_b;
  const double mean_a = a.mean ? *a.mean : *a.median, mean_b = b.mean ? *b.mean : *b.median;
  const double mean = (n_a * mean_a + n_b * mean_b) / n;
  const double std_a = a.std.value_or(0), std_b = b.std.value_or(0);
  const double squares = (n_a - 1) * std_a * std_a + (n_b - 1) * std_b * std_b +
                         n_a * (mean_a - mean) * (mean_a - mean) +
                         n_b * (mean_b - mean) * (mean_b - mean);
  into.n = n;
  into.mean = mean;
  if (n > 1) into.std = std::sqrt(squares / (n - 1));
}

void absorb(ProfileRow& row, const ProfileRow& other) {
  if (other.processed == Processed::yes && row.processed != Processed::yes) {
    row = other;
    return;
  }
  if (other.processed != Processed::yes) return;
  row.seconds = pooled(row.seconds, other.seconds);
  row.joules = pooled(row.joules, other.joules);
  row.occurrences = std::max(row.occurrences, other.occurrences);
  if (!row.flop) row.flop = other.flop;
  if (!row.bytes) row.bytes = other.bytes;
}

bool has_joules(const Profile& profile) {
  return std::any_of(profile.rows.begin(), profile.rows.end(),
                     [](const ProfileRow& row) { return row.energy().has_value(); });
}

std::string idle_of(const Profile& profile) {
  const auto watts = profile.idle_w();
  return "'" + profile.path + "' " +
         (watts ? "gives idle: " + format_quantity(*watts, Dimension::watts) : "gives no idle");
}

/// Throws InputError if the joules of the two profiles have different meanings. If the joules include the energy that
/// the device takes at rest, both profiles must give the same power at rest (the key `idle`).
void require_same_joules(const Profile& a, const Profile& b) {
  if (a.joules_above_idle() == b.joules_above_idle()) {
    if (a.joules_above_idle() || a.idle_w() == b.idle_w() || !has_joules(a) || !has_joules(b))
      return;
    throw InputError(
        "the joules of both files include the device's power at rest, but " + idle_of(a) + ", " +
        idle_of(b) +
        "; a profile has only one value of idle: merge files with equal values; or subtract idle x "
        "seconds from the joules of each file, and write joules: above_idle in its header");
  }
  throw InputError(
      "the joules of '" + a.path + "' and '" + b.path +
      "' are not of the same kind: one file has joules: above_idle, the other file has joules: whole; "
      "merge files with the same kind of joules");
}

/// Takes the power at rest from the profile that has joules. A profile without joules may give another power, which is
/// ignored.
void take_idle(Value& header, const Value& of_joules) {
  auto& entries = header.entries();
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const Value::Entry& entry) { return entry.key == "idle"; }),
                entries.end());
  if (const Value* idle = of_joules.find("idle")) header.set("idle", *idle);
}

}  // namespace

Statistics pooled(const Statistics& a, const Statistics& b) {
  if (!a.known()) return b;
  if (!b.known()) return a;
  Statistics all;
  if (!a.samples.empty() && !b.samples.empty()) {
    all.samples = a.samples;
    all.samples.insert(all.samples.end(), b.samples.begin(), b.samples.end());
    all.derive();
  } else {
    pool_moments(all, a, b);
  }
  return all;
}

Profile without_repeats(Profile profile) {
  std::map<std::string, std::size_t> known;
  std::vector<ProfileRow> rows;
  for (ProfileRow& row : profile.rows) {
    const auto [found, fresh] = known.emplace(key_of(row), rows.size());
    if (fresh)
      rows.push_back(std::move(row));
    else
      absorb(rows[found->second], row);
  }
  profile.rows = std::move(rows);
  return profile;
}

Profile merged(const std::vector<Profile>& profiles) {
  Profile all = profiles.front();
  for (std::size_t p = 1; p < profiles.size(); ++p) {
    require_same_joules(all, profiles[p]);
    if (!has_joules(all) && has_joules(profiles[p])) take_idle(all.header, profiles[p].header);
    for (const Value::Entry& entry : profiles[p].header.entries()) {
      const bool stays =
          // The header's device is left out, because the rows name their devices.
          entry.key == "device" || (entry.key == "idle" && has_joules(all));
      if (!stays && !all.header.find(entry.key)) all.header.set(entry.key, entry.value);
    }
    all.rows.insert(all.rows.end(), profiles[p].rows.begin(), profiles[p].rows.end());
  }
  return without_repeats(std::move(all));
}

}  // namespace sluice
