#include "cost/fitted/document.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "cost/fitted/record.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/record.hpp"

namespace sluice {
namespace {

const std::vector<const char*>& place_names() {
  static const std::vector<const char*> names = {"count", "rows", "columns", "depth", "density"};
  return names;
}

/// A fit gives, for each measured kernel, how far its seconds and joules deviate from the form of the fit: the natural
/// logarithm of a ratio. A document with a logarithm above this number, or below its negative, is refused.
constexpr double most_left = 20;

Sheet read_sheet(const Value& value) {
  const Reader keys(value, fit_device_record());
  return {.name = keys.text("name"),
          .units = static_cast<double>(keys.integer("units")),
          .rate = keys.quantity("rate"),
          .bandwidth = keys.quantity("bandwidth"),
          .cache = keys.quantity("cache"),
          .watts = keys.has("watts") ? keys.quantity("watts") : 0};
}

FitError read_error(const Value& value) {
  const Reader keys(value, fit_error_record());
  return {keys.number("median"), keys.number("ninety"), keys.integer("predictions")};
}

/// Reads the errors of the fit for each device.
std::vector<std::pair<std::string, FitError>> read_errors(const Value& list) {
  std::vector<std::pair<std::string, FitError>> errors;
  for (const Value& value : list.items()) {
    const Reader keys(value, fit_named_error_record());
    errors.emplace_back(keys.text("device"), FitError{keys.number("median"), keys.number("ninety"),
                                                      keys.integer("predictions")});
  }
  return errors;
}

/// Reads the parameters of a form. Each parameter must be present, because a form with a missing parameter is
/// meaningless.
std::vector<double> read_parameters(const Value& value, const Record& record) {
  const Reader keys(value, record);
  std::vector<double> parameters;
  for (const Field& field : record.fields) parameters.push_back(keys.number(field.name));
  return parameters;
}

void read_range(const Value& value, ClassFit& fit) {
  const Reader keys(value, fit_range_record());
  for (std::size_t i = 0; i < fit.least.size(); ++i) {
    const Value& ends = *keys.value(place_names()[i]);
    const bool two =
        ends.items().size() == 2 &&
        std::all_of(ends.items().begin(), ends.items().end(), [](const Value& end) {
          return end.kind() == Value::Kind::integer || end.kind() == Value::Kind::number;
        });
    if (!two || !(ends.items()[0].as_number() > 0) ||
        ends.items()[1].as_number() < ends.items()[0].as_number())
      keys.fail(
          place_names()[i],
          std::string("'") + place_names()[i] +
              "' needs the least and the greatest measured size, two numbers above 0 such as [1, 8]");
    fit.least[i] = std::log(ends.items()[0].as_number());
    fit.most[i] = std::log(ends.items()[1].as_number());
  }
}

/// Reads one line per place. A line has the five sizes of the place and the deviation of the time from the form. If
/// energy was measured, the deviation of the energy follows.
void read_left(const Value& value, ClassFit& fit) {
  std::istringstream lines(value.text());
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream cells(line);
    Place place;
    double time = 0, energy = 0;
    for (double& size : place) cells >> size;
    cells >> time;
    if (fit.joules) cells >> energy;
    const bool above = std::all_of(place.begin(), place.end(), [](double s) { return s > 0; });
    const bool near_one = std::abs(time) <= most_left && std::abs(energy) <= most_left;
    if (cells.fail() || !above || !near_one || !(cells >> std::ws).eof())
      fail_at(
          value,
          "line " + std::to_string(number) + " of 'left' is '" + line + "': expected " +
              (fit.joules ? "seven" : "six") +
              " numbers: count, rows, columns, depth, density (above 0), and the deviation of the time from the form" +
              (fit.joules ? ", and the deviation of the energy" : "") + " (-20 to 20)");
    for (double& size : place) size = std::log(size);
    fit.seconds.left.emplace_back(place, time);
    if (fit.joules) fit.joules->left.emplace_back(place, energy);
  }
}

ClassFit read_class(const Value& value) {
  const Reader keys(value, fit_class_record());
  ClassFit fit;
  fit.name = keys.text("class");
  fit.dtype = dtype_of(keys.text("dtype"));
  fit.samples = keys.integer("samples");
  fit.time_error = read_error(*keys.value("error"));
  if (const Value* error = keys.value("energy_error")) fit.energy_error = read_error(*error);
  if (const Value* error = keys.value("device_error")) fit.device_error = read_error(*error);
  if (const Value* errors = keys.value("device_errors")) fit.device_errors = read_errors(*errors);
  fit.seconds.parameters = read_parameters(*keys.value("time"), fit_time_record());
  if (const Value* energy = keys.value("energy")) {
    fit.joules.emplace();
    fit.joules->parameters = read_parameters(*energy, fit_energy_record());
  }
  read_range(*keys.value("range"), fit);
  if (const Value* left = keys.value("left")) read_left(*left, fit);
  return fit;
}

// --- writing ---------------------------------------------------------------------------------

/// Formats a fitted number with six significant digits. So the text is the same on every machine.
std::string brief(double number) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(6);
  out << number;
  return out.str();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void write_error(std::ostream& out, const FitError& error) {
  out << "median: " << brief(error.median) << ", ninety: " << brief(error.ninety)
      << ", predictions: " << error.count << "}\n";
}

void write_error(std::ostream& out, const char* key, const FitError& error) {
  out << "    " << key << ": {";
  write_error(out, error);
}

void write_errors(std::ostream& out, const ClassFit& fit) {
  if (fit.device_errors.empty()) return;
  out << "    device_errors:\n";
  for (const auto& [device, error] : fit.device_errors) {
    out << "      - {device: " << quoted(device) << ", ";
    write_error(out, error);
  }
}

void write_parameters(std::ostream& out, const char* key, const Record& record,
                      const std::vector<double>& parameters) {
  out << "    " << key << ":\n";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    out << "      " << record.fields[i].name << ": " << brief(parameters[i]) << "\n";
}

void write_left(std::ostream& out, const ClassFit& fit) {
  if (fit.seconds.left.empty()) return;
  out << "    left: |\n";
  for (std::size_t i = 0; i < fit.seconds.left.size(); ++i) {
    const auto& [place, time] = fit.seconds.left[i];
    out << "      ";
    for (const double size : place) out << brief(std::exp(size)) << ' ';
    out << brief(std::round(time * 1e4) / 1e4);
    if (fit.joules) out << ' ' << brief(std::round(fit.joules->left[i].second * 1e4) / 1e4);
    out << "\n";
  }
}

void write_class(std::ostream& out, const ClassFit& fit) {
  out << "  - class: " << fit.name << "\n    dtype: " << name_of(fit.dtype)
      << "\n    samples: " << fit.samples << "\n";
  write_error(out, "error", fit.time_error);
  if (fit.energy_error) write_error(out, "energy_error", *fit.energy_error);
  if (fit.device_error) write_error(out, "device_error", *fit.device_error);
  write_errors(out, fit);
  out << "    range: {";
  for (std::size_t i = 0; i < fit.least.size(); ++i)
    out << (i ? ", " : "") << place_names()[i] << ": [" << brief(std::exp(fit.least[i])) << ", "
        << brief(std::exp(fit.most[i])) << "]";
  out << "}\n";
  write_parameters(out, "time", fit_time_record(), fit.seconds.parameters);
  if (fit.joules) write_parameters(out, "energy", fit_energy_record(), fit.joules->parameters);
  write_left(out, fit);
}

bool near(double a, double b) {
  return std::abs(a - b) <= 0.05 * std::max(std::abs(a), std::abs(b));
}

}  // namespace

const ClassFit* Fit::find(const std::string& of, DType dtype) const {
  for (const ClassFit& fit : classes)
    if (fit.name == of && fit.dtype == dtype) return &fit;
  return nullptr;
}

bool Fit::saw(const Sheet& sheet) const {
  return std::any_of(devices.begin(), devices.end(), [&](const Sheet& seen) {
    return seen.units == sheet.units && near(seen.rate, sheet.rate) &&
           near(seen.bandwidth, sheet.bandwidth);
  });
}

Fit read_fit(const Value& document) {
  require_format(document, "fit");
  const Reader keys(document, fit_record());
  const auto text = [&](const char* key) { return keys.has(key) ? keys.text(key) : ""; };
  Fit fit{.name = text("name"),
          .summary = text("summary"),
          .source = text("source"),
          .licence = text("licence")};
  for (const Value& device : keys.value("devices")->items())
    fit.devices.push_back(read_sheet(device));
  for (const Value& value : keys.value("classes")->items()) {
    ClassFit read = read_class(value);
    if (fit.find(read.name, read.dtype))
      fail_at(value, "two fits of the class '" + read.name + "' in " +
                         std::string(name_of(read.dtype)) + ": expected one per class and dtype");
    fit.classes.push_back(std::move(read));
  }
  return fit;
}

Fit load_fit(const std::string& file_or_name) {
  return read_fit(load_document(find_document(file_or_name, "fits"), "fits"));
}

std::string fit_text(const Fit& fit) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << "format: sluice-fit/1\n";
  for (const auto& [key, text] :
       {std::pair{"name", fit.name}, std::pair{"summary", fit.summary},
        std::pair{"source", fit.source}, std::pair{"licence", fit.licence}})
    if (!text.empty()) out << key << ": " << quoted(text) << "\n";
  out << "devices:\n";
  for (const Sheet& sheet : fit.devices) {
    out << "  - {name: " << quoted(sheet.name) << ", units: " << brief(sheet.units)
        << ", rate: " << exact(sheet.rate) << "FLOP/s, bandwidth: " << exact(sheet.bandwidth)
        << "B/s, cache: " << exact(sheet.cache) << "B";
    if (sheet.watts > 0) out << ", watts: " << exact(sheet.watts) << "W";
    out << "}\n";
  }
  out << "classes:\n";
  for (const ClassFit& each : fit.classes) write_class(out, each);
  return out.str();
}

}  // namespace sluice
