#include "profile/summary.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "profile/columns.hpp"

namespace sluice {
namespace {

/// Returns the configuration of the row's operator as text. The text leaves out the operator's instance, its model and
/// its memories. It also leaves out the cache and the method of the measurement.
std::string configuration_of(const ProfileRow& row) {
  return key_of(row, {"node", "input_pools", "output_pools", "cache", "method", "model"});
}

std::vector<ClassSummary> classes_of(const Profile& profile) {
  std::map<std::string, ClassSummary> classes;
  std::map<std::string, std::set<std::string>> configurations;
  for (const ProfileRow& row : profile.rows) {
    if (row.level != Level::leaf) continue;
    ClassSummary& one = classes[row.operator_class];
    one.operator_class = row.operator_class;
    ++one.rows;
    configurations[row.operator_class].insert(configuration_of(row));
    if (!row.time()) continue;
    ++one.measured;
    const auto occurrences = static_cast<double>(row.occurrences);
    one.seconds += occurrences * *row.time();
    one.joules += occurrences * row.energy().value_or(0);
  }
  std::vector<ClassSummary> list;
  for (auto& [name, one] : classes) {
    one.configurations = configurations[name].size();
    list.push_back(one);
  }
  std::stable_sort(list.begin(), list.end(), [](const ClassSummary& a, const ClassSummary& b) {
    return a.seconds > b.seconds;
  });
  return list;
}

std::vector<SampledRow> sampled_rows(const Profile& profile) {
  std::vector<SampledRow> list;
  for (const ProfileRow& row : profile.rows) {
    const Statistics& seconds = row.seconds;
    if (seconds.samples.size() > 1) {
      list.push_back({.row = &row, .seconds = spread_of(seconds.samples), .has_samples = true});
    } else if (seconds.samples.empty() && seconds.std && seconds.known()) {
      Spread known;
      known.n = static_cast<std::size_t>(seconds.n.value_or(0));
      known.mean = seconds.mean ? *seconds.mean : *seconds.median;
      known.median = *seconds.value();
      known.std = *seconds.std;
      list.push_back({.row = &row, .seconds = known});
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const SampledRow& a, const SampledRow& b) {
    return a.variation() > b.variation();
  });
  return list;
}

std::vector<ConfigurationSpread> repeated_configurations(const Profile& profile) {
  std::map<std::string, std::vector<const ProfileRow*>> rows;
  for (const ProfileRow& row : profile.rows)
    if (row.level == Level::leaf && row.time()) rows[configuration_of(row)].push_back(&row);
  std::vector<ConfigurationSpread> list;
  for (const auto& [key, same] : rows) {
    // If rows have no configuration, no shapes and no sizes, they may be different operators. Such rows are left out.
    const ProfileRow& first = *same.front();
    if (same.size() < 2 || (first.config.empty() && first.sizes.empty() && first.inputs.empty()))
      continue;
    std::vector<double> times;
    for (const ProfileRow* row : same) times.push_back(*row->time());
    ProfileRow plain = first;
    plain.node.clear();
    plain.input_pools.clear();
    plain.output_pools.clear();
    list.push_back({words_of(plain), spread_of(times)});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const ConfigurationSpread& a, const ConfigurationSpread& b) {
                     return a.factor() > b.factor();
                   });
  return list;
}

}  // namespace

ProfileSummary summary_of(const Profile& profile) {
  ProfileSummary summary;
  summary.rows = profile.rows.size();
  for (const ProfileRow& row : profile.rows) {
    if (row.processed == Processed::yes) ++summary.measured;
    if (row.processed == Processed::no) ++summary.planned;
    if (row.processed == Processed::failed) ++summary.failed;
    if (row.energy()) ++summary.with_energy;
  }
  summary.classes = classes_of(profile);
  summary.sampled = sampled_rows(profile);
  summary.repeated = repeated_configurations(profile);
  return summary;
}

}  // namespace sluice
