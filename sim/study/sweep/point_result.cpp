#include "study/sweep/point_result.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/error.hpp"
#include "base/headline.hpp"
#include "base/packed_strings.hpp"
#include "base/suggest.hpp"
#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice {

namespace {

constexpr std::array<std::string_view, 3> status_names = {"complete", "infeasible", "failed"};

/// Returns the value that the mapping has under `key`. Throws InputError if it has no such key.
const Value& value_at(const Value& mapping, std::string_view key) {
  const Value* const found = mapping.find(key);
  if (!found) throw InputError("an object in the list of names has no '" + std::string(key) + "'");
  return *found;
}

}  // namespace

std::string NumberName::text() const {
  return key.empty() ? metric : metric + "[" + join(key, "/") + "]";
}

PointResult failed_result(std::string message) {
  return {.status = PointResult::Status::failed,
          .reason = headline_of(message),
          .message = std::move(message)};
}

std::string_view name_of(PointResult::Status status) {
  return status_names[static_cast<std::size_t>(status)];
}

PointResult::Status status_named(std::string_view name) {
  const auto found = std::find(status_names.begin(), status_names.end(), name);
  if (found == status_names.end())
    throw InputError("'" + std::string(name) + "' is not a status of a point");
  return static_cast<PointResult::Status>(found - status_names.begin());
}

double PointResult::number(std::string_view name) const {
  if (names)
    for (std::size_t i = 0; i < names->size(); ++i)
      if ((*names)[i].text() == name) return numbers[i];
  return std::numeric_limits<double>::quiet_NaN();
}

std::shared_ptr<const NumberNames> shared_names(NumberNames names) {
  static std::mutex mutex;
  static std::vector<std::shared_ptr<const NumberNames>> known;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& other : known)
    if (*other == names) return other;
  known.push_back(std::make_shared<const NumberNames>(std::move(names)));
  return known.back();
}

std::string packed_names(const NumberNames& names) {
  const auto key = [](const NumberName& name) {
    return list_of(name.key, [](const std::string& word) { return Item(word); });
  };
  return to_json(
      list_of(names,
              [&](const NumberName& name) {
                return object({{"metric", name.metric}, {"key", key(name)}, {"unit", name.unit}});
              }),
      0);
}

std::shared_ptr<const NumberNames> unpacked_names(const std::string& text,
                                                  const std::string& file) {
  NumberNames names;
  const Value list = parse_text(text, file + ".json");
  for (const Value& one : list.items()) {
    NumberName name{value_at(one, "metric").text(), {}, value_at(one, "unit").text()};
    for (const Value& word : value_at(one, "key").items()) name.key.push_back(word.text());
    names.push_back(std::move(name));
  }
  return shared_names(std::move(names));
}

static_assert(std::endian::native == std::endian::little,
              "packed numbers have the low byte first, so this computer must store them so, too");

std::string packed_numbers(const std::vector<double>& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::vector<double> unpacked_numbers(std::string_view bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

std::string packed(const PointResult& outcome) {
  return pack({name_of(outcome.status), outcome.reason, outcome.message, outcome.shortage,
               outcome.bound_by, outcome.chosen, outcome.executor,
               outcome.names ? packed_names(*outcome.names) : "", packed_numbers(outcome.numbers)});
}

PointResult unpacked_result(std::string_view bytes) {
  const std::vector<std::string_view> parts = unpack(bytes);
  const auto text = [&](std::size_t i) { return std::string(parts.at(i)); };
  PointResult outcome{.status = status_named(parts.at(0)),
                      .reason = text(1),
                      .message = text(2),
                      .shortage = text(3)};
  outcome.bound_by = text(4);
  outcome.chosen = text(5);
  outcome.executor = text(6);
  if (!parts.at(7).empty()) outcome.names = unpacked_names(text(7), "outcome");
  outcome.numbers = unpacked_numbers(parts.at(8));
  return outcome;
}

void take_numbers(PointResult& outcome, const Summary& summary) {
  NumberNames names;
  outcome.numbers.clear();
  for (const Summary::Metric& metric : summary.metrics) {
    const SummaryValue& value = metric.value;
    if (value.kind == SummaryValue::Kind::text && metric.name == "bound_by")
      outcome.bound_by = value.text;
    if (value.kind == SummaryValue::Kind::number) {
      names.push_back({metric.name, {}, metric.unit});
      outcome.numbers.push_back(value.number);
    }
    for (const SummaryValue::Keyed& keyed : value.keyed) {
      names.push_back({metric.name, keyed.key, metric.unit});
      outcome.numbers.push_back(keyed.number);
    }
  }
  outcome.names = shared_names(std::move(names));
}

}  // namespace sluice
