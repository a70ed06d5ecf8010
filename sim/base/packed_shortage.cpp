#include "base/packed_shortage.hpp"

#include <vector>

#include "base/number_in.hpp"
#include "base/packed_strings.hpp"
#include "base/quantity.hpp"

namespace sluice {

namespace {

using Texts = std::vector<std::string>;

std::string packed_texts(const Texts& texts) {
  return pack({texts.begin(), texts.end()});
}

std::string text_of(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "";
}

std::string packed(const Shortage::Waiter& waiter) {
  return packed_texts({waiter.stream, waiter.action, waiter.awaits, waiter.pool,
                       std::to_string(waiter.bytes), packed_texts(waiter.tensors)});
}

Shortage::Waiter waiter_from(std::string_view bytes) {
  const std::vector<std::string_view> parts = unpack(bytes);
  const std::vector<std::string_view> tensors = unpack(parts.at(5));
  return {std::string(parts.at(0)),
          std::string(parts.at(1)),
          std::string(parts.at(2)),
          std::string(parts.at(3)),
          number_in<std::int64_t>(parts.at(4)).value(),
          {tensors.begin(), tensors.end()}};
}

}  // namespace

std::string packed(const Shortage& shortage) {
  Texts classes, waiters;
  for (const auto& [name, bytes] : shortage.by_class) {
    classes.push_back(name);
    classes.push_back(std::to_string(bytes));
  }
  for (const Shortage::Waiter& waiter : shortage.waiters) waiters.push_back(packed(waiter));
  return packed_texts({shortage.pool, text_of(shortage.needed_bytes),
                       text_of(shortage.available_bytes), packed_texts(classes),
                       packed_texts(waiters), shortage.time_s ? exact(*shortage.time_s) : "",
                       text_of(shortage.most_in_flight)});
}

Shortage shortage_from(std::string_view bytes) {
  const std::vector<std::string_view> parts = unpack(bytes);
  Shortage shortage{.pool = std::string(parts.at(0)),
                    .needed_bytes = number_in<std::int64_t>(parts.at(1)),
                    .available_bytes = number_in<std::int64_t>(parts.at(2)),
                    .time_s = number_in<double>(parts.at(5)),
                    .most_in_flight = number_in<std::int64_t>(parts.at(6))};
  const std::vector<std::string_view> classes = unpack(parts.at(3));
  for (std::size_t i = 0; i + 1 < classes.size(); i += 2)
    shortage.by_class.emplace_back(classes[i], number_in<std::int64_t>(classes[i + 1]).value());
  for (const std::string_view waiter : unpack(parts.at(4)))
    shortage.waiters.push_back(waiter_from(waiter));
  return shortage;
}

}  // namespace sluice
