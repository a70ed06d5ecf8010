#include "profile/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/suggest.hpp"
#include "profile/columns.hpp"

namespace sluice {
namespace {

using ByKey = std::map<std::string, const ProfileRow*>;

ByKey by_key(const Profile& profile, const std::vector<std::string>& but) {
  ByKey rows;
  for (const ProfileRow& row : profile.rows) {
    const auto [found, fresh] = rows.emplace(key_of(row, but), &row);
    if (!fresh)
      profile.fail(row, "this row (" + words_of(row) + ") and the row of line " +
                            std::to_string(found->second->line) +
                            " differ only in columns that are not compared (" + join(but) +
                            "); choose rows with --between COLUMN=A,B or --where COLUMN=VALUE");
  }
  return rows;
}

void describe(Comparison& comparison, double tolerance) {
  std::vector<double> ratios;
  for (const ComparedRow& row : comparison.rows) {
    ratios.push_back(row.ratio());
    comparison.sum_a += row.of_a;
    comparison.sum_b += row.of_b;
    if (std::abs(row.ratio() - 1) <= tolerance) ++comparison.agreeing;
  }
  if (ratios.empty()) return;
  comparison.median = median_of(ratios);
  comparison.tenth = quantile_of(ratios, 0.1);
  comparison.ninetieth = quantile_of(ratios, 0.9);
}

/// Returns the text that a cell with this value has. The text is empty if the value is the default of the column. If
/// the column does not allow the value, returns the value unchanged, because no row has it anyway.
std::string cell_of(const ProfileColumn& column, const std::string& value) {
  if (value.empty()) return value;
  ProfileRow row;
  try {
    column.set(row, value);
  } catch (const InputError&) {
    return value;
  }
  return column.get(row);
}

}  // namespace

const ComparedRow* Comparison::worst() const {
  const auto found = std::max_element(
      rows.begin(), rows.end(),
      [](const ComparedRow& x, const ComparedRow& y) { return x.factor() < y.factor(); });
  return found == rows.end() ? nullptr : &*found;
}

double Comparison::agreeing_share() const {
  return rows.empty() ? 0 : static_cast<double>(agreeing) / static_cast<double>(rows.size());
}

Comparison compare(const Profile& a, const Profile& b, const CompareOptions& options) {
  const ByKey rows_a = by_key(a, options.but), rows_b = by_key(b, options.but);
  Comparison comparison;
  for (const ProfileRow& row : a.rows) {
    const auto found = rows_b.find(key_of(row, options.but));
    if (found == rows_b.end()) {
      ++comparison.only_a;
      continue;
    }
    const ProfileRow& other = *found->second;
    const auto of_a = options.energy ? row.energy() : row.time();
    const auto of_b = options.energy ? other.energy() : other.time();
    if (!of_a || !of_b) {
      ++comparison.unmeasured;
      continue;
    }
    ++comparison.pairs;
    if (*of_a == 0 || *of_b == 0)
      ++comparison.with_zero;
    else if (*of_a <= options.least || *of_b <= options.least)
      ++comparison.below_least;
    else
      comparison.rows.push_back({&row, &other, *of_a, *of_b});
  }
  comparison.only_b =
      static_cast<std::size_t>(std::count_if(rows_b.begin(), rows_b.end(), [&](const auto& entry) {
        return rows_a.count(entry.first) == 0;
      }));
  describe(comparison, options.tolerance);
  return comparison;
}

Profile rows_where(const Profile& profile, const std::string& column, const std::string& value) {
  const ProfileColumn& chosen = profile_column(column);
  Profile part = profile;
  part.rows.clear();
  const std::string wanted = cell_of(chosen, value);
  std::set<std::string> known;
  for (const ProfileRow& row : profile.rows) {
    const std::string cell = chosen.get(row);
    known.insert(cell.empty() ? "(empty)" : cell);
    if (cell == wanted) part.rows.push_back(row);
  }
  if (!part.rows.empty()) return part;
  const std::vector<std::string> values(known.begin(), known.end());
  throw InputError(
      "no row of '" + profile.path + "' has " + column + "=" + value + did_you_mean(value, values) +
      "; there are: " +
      join({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min<std::size_t>(values.size(), 12))}));
}

}  // namespace sluice
