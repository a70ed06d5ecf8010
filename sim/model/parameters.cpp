#include "model/parameters.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"

namespace sluice {
namespace {

struct Declaration {
  std::int64_t minimum = 1;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  /// If the model's document gives the maximum as an expression: this expression, for messages. Otherwise, the text is
  /// empty.
  std::string maximum_text = {};
};

bool is_reserved(const std::string& name) {
  return find_field(model_use_record().fields, name) != nullptr;
}

bool is_name(const std::string& name) {
  for (const char c : name)
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
      return false;
  return !name.empty();
}

std::int64_t check(const std::string& name, const Value& value, const Declaration& declaration) {
  const std::string given =
      value.is_scalar() ? "'" + value.text() + "'" : std::string(value.kind_name());
  const std::string start = given + " for the parameter '" + name + "': ";
  if (value.kind() != Value::Kind::integer) fail_at(value, start + "expected an integer");
  if (value.as_integer() < declaration.minimum)
    fail_at(value, start + "it must be at least " + std::to_string(declaration.minimum));
  if (value.as_integer() > declaration.maximum)
    fail_at(value, start + "it must be at most " + std::to_string(declaration.maximum) +
                       (declaration.maximum_text.empty() ? "" : ", " + declaration.maximum_text));
  return value.as_integer();
}

}  // namespace

void refuse_unknown_parameters(const Value& use, const Parameters& parameters) {
  std::vector<std::string> known;
  for (const auto& [name, value] : parameters) known.push_back(name);
  std::vector<std::string> all = known;
  for (const Field& field : model_use_record().fields) all.push_back(field.name);
  for (const Value::Entry& entry : use.entries()) {
    if (is_reserved(entry.key) || parameters.count(entry.key)) continue;
    throw InputError(entry.position(), "the model has no parameter '" + entry.key + "'" +
                                           did_you_mean(entry.key, all) + "; it has: " +
                                           (known.empty() ? "none" : join(known)) + " (and scale)");
  }
}

namespace {

std::int64_t maximum_of(const Value& most, const Parameters& parameters) {
  if (most.kind() == Value::Kind::integer) return most.as_integer();
  if (most.kind() != Value::Kind::string)
    fail_at(most, "expected an integer or an expression of parameters for 'maximum', got " +
                      std::string(most.kind_name()));
  return located(most, [&] { return evaluate(most.text(), parameters); });
}

/// Returns the values of the parameters that `definition` declares. A parameter has the value that `use` gives, or else
/// its default.
Parameters read_declared(const Value& definition, const Value& use,
                         const std::vector<std::string>& reserved, Purpose purpose) {
  Parameters parameters, for_inference;
  /// The parameters whose maximum is an expression, with the maximum. These maxima are evaluated last, because they may
  /// depend on the other parameters.
  std::vector<std::pair<const Value::Entry*, const Value*>> later;
  const Value* declared = definition.find("parameters");
  if (!declared) return parameters;
  for (const Value::Entry& entry : declared->entries()) {
    const bool taken = std::find(reserved.begin(), reserved.end(), entry.key) != reserved.end();
    if (taken || !is_name(entry.key))
      throw InputError(entry.position(), "'" + entry.key +
                                             "' cannot be a parameter's name; expected letters, "
                                             "digits and '_', and none of: " +
                                             join(reserved));
    Declaration declaration;
    const Value* standard = &entry.value;
    if (entry.value.is_map()) {
      const Reader keys(entry.value, declaration_record(), "parameter '" + entry.key + "'");
      declaration.minimum = keys.integer("minimum");
      const Value* most = keys.value("maximum");
      if (most && most->kind() == Value::Kind::string)
        later.emplace_back(&entry, most);
      else if (most)
        declaration.maximum = maximum_of(*most, {});
      standard = keys.value("default");
      if (purpose == Purpose::inference && keys.has("inference"))
        for_inference[entry.key] = keys.integer("inference");
    }
    parameters[entry.key] = check(entry.key, *standard, declaration);
    if (const Value* given = use.find(entry.key))
      parameters[entry.key] = check(entry.key, *given, declaration);
  }
  for (const auto& [entry, most] : later) {
    const Declaration declaration{.minimum = std::numeric_limits<std::int64_t>::min(),
                                  .maximum = maximum_of(*most, parameters),
                                  .maximum_text = most->text()};
    const Value* given = use.find(entry->key);
    check(entry->key, given ? *given : *entry->value.find("default"), declaration);
  }
  for (const auto& [name, value] : for_inference) parameters[name] = value;
  return parameters;
}

}  // namespace

Parameters read_parameters(const Value& definition, const Value& use, Purpose purpose) {
  std::vector<std::string> reserved;
  for (const Field& field : model_use_record().fields) reserved.push_back(field.name);
  Parameters parameters = read_declared(definition, use, reserved, purpose);
  refuse_unknown_parameters(use, parameters);
  return parameters;
}

Parameters read_block_parameters(const Value& block, const std::string& name, const Value& use) {
  const std::vector<std::string> reserved = {"block", "name", "inputs"};
  Parameters parameters = read_declared(block, use, reserved, Purpose::training);
  std::vector<std::string> known;
  for (const auto& [parameter, value] : parameters) known.push_back(parameter);
  for (const Value::Entry& entry : use.entries()) {
    if (std::find(reserved.begin(), reserved.end(), entry.key) != reserved.end()) continue;
    if (parameters.count(entry.key)) continue;
    throw InputError(entry.position(), "the block '" + name + "' has no parameter '" + entry.key +
                                           "'" + did_you_mean(entry.key, known) +
                                           "; it has: " + (known.empty() ? "none" : join(known)));
  }
  return parameters;
}

}  // namespace sluice
