#include "policy/settle/most_in_flight.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bisection.hpp"

namespace sluice {

namespace {

/// Returns the number of micro-batches in flight that the keys name, or nothing if they leave it open. `policy` is the
/// policy that reads the number: if replicas run, it is their policy.
std::optional<std::int64_t> asked_in_flight(const Policy& policy, const Value& keys) {
  constexpr const char* name = "in_flight";
  const auto field = std::ranges::find(policy.parameters, name, &Field::name);
  const Value* const value = keys.find(name);
  if (!value || field == policy.parameters.end()) return std::nullopt;
  Value only = Value::make_map();
  only.set(name, *value);
  const Keys read(std::move(only), Record{.name = "policy " + policy.name, .fields = {*field}});
  if (read.reader().is_word(name, "auto")) return std::nullopt;
  return read.reader().integer(name);
}

}  // namespace

std::int64_t most_in_flight(const RefusedInFlight& refused,
                            const std::function<bool(const Reader& parameters)>& fits) {
  const Value& keys = refused.parameters.map();
  const std::int64_t known = refused.estimate;
  const std::optional<std::int64_t> asked =
      asked_in_flight(acting_policy(refused.policy, refused.parameters), keys);
  if (!asked) return known;
  const std::int64_t too_many = std::min(*asked, refused.workload.micro_batches_per_step());
  const auto count_fits = [&](std::int64_t count) {
    Value map = keys;
    map.set("in_flight", Value::make(count));
    return fits(Keys(std::move(map), record_of(refused.policy)).reader());
  };
  if (known > 0 && !count_fits(known)) return largest_that_fits(0, known, count_fits);
  if (known + 1 >= too_many || !count_fits(known + 1)) return known;
  return largest_that_fits(known + 1, too_many, count_fits);
}

}  // namespace sluice
