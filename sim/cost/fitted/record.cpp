#include "cost/fitted/record.hpp"

#include "base/dtype.hpp"
#include "cost/fitted/form.hpp"
#include "document/key.hpp"

namespace sluice {
namespace {

Record of_form(std::string name, std::string summary, const std::vector<FormParameter>& form) {
  Record record{std::move(name), std::move(summary), {}};
  for (const FormParameter& parameter : form) {
    Key field = Key::number(parameter.name, parameter.summary);
    field.minimum_excluded = parameter.divides;
    record.fields.push_back(std::move(field));
  }
  return record;
}

}  // namespace

const Record& fit_device_record() {
  static const Record record = {
      "device of a fit",
      "A device that was measured, with the figures of its data sheet.",
      {Key::text("name", "The name of the device."),
       Key::integer(
           "units",
           "The number of units that compute side by side: streaming multiprocessors, cores.")
           .at_least(1),
       Key::quantity("rate", Dimension::flop_per_s, "The rate of all units together, in FLOP/s.")
           .more_than(0),
       Key::quantity("bandwidth", Dimension::bytes_per_s,
                     "The bandwidth of the device's default memory, in byte/s.")
           .more_than(0),
       Key::quantity("cache", Dimension::bytes,
                     "The size of the last cache before the memory, in bytes.")
           .more_than(0),
       Key::quantity("watts", Dimension::watts,
                     "The greatest power, in watts, that the device may take.")
           .or_absent()
           .more_than(0)}};
  return record;
}

const Record& fit_error_record() {
  static const Record record = {
      "error of a fit",
      "Relative errors for operators that the fit has not seen. 0.05 is 5 %.",
      {Key::number("median", "The median."), Key::number("ninety", "The 90th percentile."),
       Key::integer("predictions", "The number of operators that were compared.")}};
  return record;
}

const Record& fit_named_error_record() {
  static const Record record = [] {
    Record named = fit_error_record();
    named.name = "error of a fit for a device";
    named.summary = "Relative errors for the operators of a device that the fit has not seen.";
    named.fields.insert(named.fields.begin(), Key::text("device", "The name of the device."));
    return named;
  }();
  return record;
}

const Record& fit_range_record() {
  static const Record record = {
      "range of a fit",
      "The least and the greatest measured value of each size.",
      {Key::list(
           "count",
           "The number of products that are computed side by side. 1 for operators that only read and write."),
       Key::list("rows", "The rows of the result."),
       Key::list("columns", "The columns of the result, or the elements of a row."),
       Key::list("depth", "The depth of a product. 1 for operators that only read and write."),
       Key::list("density", "The bytes read and written per element of the matrices.")}};
  return record;
}

const Record& fit_time_record() {
  static const Record record =
      of_form("form of time", "Parameters of the formula for the time.", form_parameters());
  return record;
}

const Record& fit_energy_record() {
  static const Record record =
      of_form("form of energy", "Parameters of the formula for the energy.", energy_parameters());
  return record;
}

const Record& fit_class_record() {
  static const Record record = {
      "class of a fit",
      "A class of operators in one dtype.",
      {Key::text("class", "linear, bmm, softmax, …: see `fits/FORMAT.md`."),
       Key::choice("dtype", dtype_names(), "The dtype of the measurements."),
       Key::integer("samples", "The number of samples that were fitted."),
       Key::mapping("error",
                    "The errors when the fit of one half of the samples estimates the other half.")
           .with_keys(fit_error_record()),
       Key::mapping(
           "energy_error",
           "The errors of the energy when the fit of one half of the samples estimates the other "
           "half.")
           .or_absent()
           .with_keys(fit_error_record()),
       Key::mapping(
           "device_error",
           "The errors over all devices, when each device is estimated by a fit of all other "
           "devices.")
           .or_absent()
           .with_keys(fit_error_record()),
       Key::list("device_errors", "The errors in device_error, for each device separately.")
           .or_absent()
           .with_keys(fit_named_error_record()),
       Key::mapping("range", "The least and the greatest measured value of each size.")
           .with_keys(fit_range_record()),
       Key::mapping("time", "The parameters of the formula for the time.")
           .with_keys(fit_time_record()),
       Key::mapping("energy", "The parameters of the formula for the energy.")
           .or_absent()
           .with_keys(fit_energy_record()),
       Key::text(
           "left",
           "The deviations from the formulas for time and energy, as logarithms, with one line per measured "
           "kernel.")
           .or_absent()}};
  return record;
}

const Record& fit_record() {
  static const Record record = {
      "fit",
      "The seconds of operators as a function of their sizes, fitted to measurements.",
      {Key::text("format", "sluice-fit/1"), Key::text("name", "The name of the fit.").or_absent(),
       Key::text("summary", "One sentence.").or_absent(),
       Key::text("source", "Where the measurements come from.").or_absent(),
       Key::text("licence", "The licence of the measurements.").or_absent(),
       Key::list("devices", "The devices that were measured.").with_keys(fit_device_record()),
       Key::list("classes", "Classes of operators.").with_keys(fit_class_record())}};
  return record;
}

}  // namespace sluice
