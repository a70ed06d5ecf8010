#include "profile/header.hpp"

#include "document/key.hpp"
#include "document/load.hpp"
#include "profile/columns.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary) {
  return Key::text(std::move(name), std::move(summary)).or_absent();
}

Field mapping(std::string name, std::string summary) {
  return Key::mapping(std::move(name), std::move(summary)).or_absent();
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
      .summary = "The header of a profile: how the rows were measured, and on which device.",
      .fields = {
          text("format", "sluice-profile/1"),
          text("name", "a short name"),
          text("summary", "one sentence"),
          text("source", "where the numbers come from"),
          text("licence", "the licence of the numbers"),
          text("date", "the date of the measurements"),
          text("device", "the device on which all rows without a device were measured"),
          mapping("how", "how the rows were measured: method, timer, meter, warmup, budget, ..."),
          mapping("on", "the environment of the measurement: versions, threads, clocks"),
          Key::choice(
              "joules", {"whole", "above_idle"},
              "the meaning of joules: all energy that the device took (whole), or the energy above idle "
              "(above_idle)")
              .by_default("whole"),
          Key::quantity("idle", Dimension::watts,
                        "the power that the measured device takes while it does not compute")
              .or_absent(),
          mapping("defaults", "the default values of columns, for absent columns and empty cells"),
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
