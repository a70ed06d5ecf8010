#include "cost/fitted/record.hpp"

#include "base/dtype.hpp"
#include "cost/fitted/form.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary, bool optional = true) {
  return {.name = std::move(name), .summary = std::move(summary), .optional = optional};
}

Field quantity(std::string name, Dimension dimension, std::string summary) {
  return {.name = std::move(name),
          .type = Type::quantity,
          .summary = std::move(summary),
          .dimension = dimension,
          .minimum_excluded = true};
}

Field number(std::string name, std::string summary) {
  return {.name = std::move(name), .type = Type::number, .summary = std::move(summary)};
}

Field mapping(std::string name, std::string summary, const Record& record, bool optional = false) {
  return {.name = std::move(name),
          .type = Type::mapping,
          .summary = std::move(summary),
          .optional = optional,
          .record = &record};
}

Field list(std::string name, std::string summary, const Record* record) {
  return {
      .name = std::move(name), .type = Type::list, .summary = std::move(summary), .record = record};
}

Record of_form(std::string name, std::string summary, const std::vector<FormParameter>& form) {
  Record record{std::move(name), std::move(summary), {}};
  for (const FormParameter& parameter : form) {
    record.fields.push_back(number(parameter.name, parameter.summary));
    record.fields.back().minimum_excluded = parameter.divides;
  }
  return record;
}

}  // namespace

const Record& fit_device_record() {
  static const Record record = [] {
    Field watts = quantity("watts", Dimension::watts, "That it may take.");
    watts.optional = true;
    return Record{"device of a fit",
                  "A device that was measured, by its data sheet.",
                  {text("name", "What to call it.", false),
                   {.name = "units",
                    .type = Type::integer,
                    .summary = "That compute side by side: streaming multiprocessors, cores.",
                    .minimum = 1},
                   quantity("rate", Dimension::flop_per_s, "Of all of them."),
                   quantity("bandwidth", Dimension::bytes_per_s, "Of its memory."),
                   quantity("cache", Dimension::bytes, "The last one before its memory."),
                   watts}};
  }();
  return record;
}

const Record& fit_error_record() {
  static const Record record = {
      "error of a fit",
      "Relative errors of what the fit has not seen; 0.05 is 5 %.",
      {number("median", "The median."),
       number("ninety", "The 90th percentile."),
       {.name = "predictions", .type = Type::integer, .summary = "How many were compared."}}};
  return record;
}

const Record& fit_named_error_record() {
  static const Record record = [] {
    Record named = fit_error_record();
    named.name = "error of a fit for a device";
    named.summary = "Relative errors of what was measured on a device that the fit has not seen.";
    named.fields.insert(named.fields.begin(), text("device", "Its name.", false));
    return named;
  }();
  return record;
}

const Record& fit_range_record() {
  static const Record record = {
      "range of a fit",
      "The least and the greatest of each size that was measured.",
      {list("count", "Products side by side; 1 of streams.", nullptr),
       list("rows", "Of the result.", nullptr),
       list("columns", "Of the result, or elements of a row.", nullptr),
       list("depth", "Of a product; 1 of streams.", nullptr),
       list("density", "Bytes read and written for each element of the matrices.", nullptr)}};
  return record;
}

const Record& fit_time_record() {
  static const Record record =
      of_form("form of time", "Parameters of the form of time.", form_parameters());
  return record;
}

const Record& fit_energy_record() {
  static const Record record =
      of_form("form of energy", "Parameters of the form of energy.", energy_parameters());
  return record;
}

const Record& fit_class_record() {
  static const Field by_device = [] {
    Field errors = list("device_errors", "The same, device by device.", &fit_named_error_record());
    errors.optional = true;
    return errors;
  }();
  static const Record record = {
      "class of a fit",
      "A class of operators in one dtype.",
      {text("class", "linear, bmm, softmax, …: see `fits/FORMAT.md`.", false),
       {.name = "dtype",
        .type = Type::choice,
        .summary = "In which it was measured.",
        .choices = dtype_names()},
       {.name = "samples", .type = Type::integer, .summary = "How many were fitted."},
       mapping("error", "Of configurations that a fit of half of them has not seen.",
               fit_error_record()),
       mapping("energy_error", "The same of energy.", fit_error_record(), true),
       mapping("device_error", "Of each device for a fit of all others.", fit_error_record(), true),
       by_device,
       mapping("range", "What was measured.", fit_range_record()),
       mapping("time", "The form of time.", fit_time_record()),
       mapping("energy", "The form of energy.", fit_energy_record(), true),
       text("left", "What the forms leave over, as logarithms, by place: one line each.")}};
  return record;
}

const Record& fit_record() {
  static const Record record = {
      "fit",
      "How long operators take as a function of their sizes, fitted to measurements.",
      {text("format", "sluice-fit/1", false), text("name", "What to call it."),
       text("summary", "One sentence."), text("source", "Where the measurements come from."),
       text("licence", "Of the measurements."),
       list("devices", "That were measured.", &fit_device_record()),
       list("classes", "Classes of operators.", &fit_class_record())}};
  return record;
}

}  // namespace sluice
