#include "profile/header.hpp"

#include "document/load.hpp"
#include "profile/columns.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary) {
  return {.name = std::move(name), .summary = std::move(summary), .optional = true};
}

Field mapping(std::string name, std::string summary) {
  return {.name = std::move(name),
          .type = Type::mapping,
          .summary = std::move(summary),
          .optional = true};
}

void require_scalars(const Reader& keys, const char* name) {
  const Value* map = keys.value(name);
  if (!map) return;
  for (const Value::Entry& entry : map->entries())
    if (!entry.value.is_scalar())
      fail_at(entry.value, std::string(entry.value.kind_name()) + " for '" + entry.key + "' in '" +
                               name + "': expected a word, a number or a text");
}

}  // namespace

const Record& profile_header_record() {
  static const Record record = {
      .name = "the header of a profile",
      .summary = "How and on what the rows were measured.",
      .fields = {
          text("format", "sluice-profile/1"),
          text("name", "a short name"),
          text("summary", "one sentence"),
          text("source", "where the numbers come from"),
          text("licence", "the licence under which they may be used"),
          text("date", "when they were taken"),
          text("device", "what rows without a device of their own were measured on"),
          mapping("how", "how it was measured: method, timer, meter, warmup, budget, ..."),
          mapping("on", "on what it was measured: versions, threads, clocks"),
          {.name = "joules",
           .type = Type::choice,
           .summary = "joules of the rows: all that the device took, or what it took above idle",
           .default_text = "whole",
           .choices = {"whole", "above_idle"}},
          {.name = "idle",
           .type = Type::quantity,
           .summary = "power of the device at rest while it was measured",
           .optional = true,
           .dimension = Dimension::watts},
          mapping("defaults", "the value of a column that is absent or empty in a row"),
      }};
  return record;
}

void check_header(const Value& header) {
  require_format(header, "profile");
  const Reader keys(header, profile_header_record());
  for (const char* name : {"how", "on", "defaults"}) require_scalars(keys, name);
  const Value* defaults = keys.value("defaults");
  if (!defaults) return;
  for (const Value::Entry& entry : defaults->entries())
    located(entry.value, [&] {
      ProfileRow row;
      profile_column(entry.key).set(row, entry.value.text());
    });
}

std::string Profile::text(std::string_view key) const {
  const Value* value = header.find(key);
  return value ? value->text() : "";
}

std::optional<double> Profile::idle_w() const {
  const Value* idle = header.find("idle");
  if (!idle) return std::nullopt;
  return parse_quantity(idle->text(), Dimension::watts, "idle");
}

}  // namespace sluice
