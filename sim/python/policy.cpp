// The binding of policies that are written in Python. Each such policy becomes a record in the catalog of policies. The
// record holds a C++ function, which calls the Python function of the policy.
#include "policy/policy.hpp"

#include <pybind11/stl.h>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "python/module.hpp"

namespace sluice::python {
namespace {

constexpr std::array<std::pair<const char*, Type>, 6> types = {{{"boolean", Type::boolean},
                                                                {"integer", Type::integer},
                                                                {"number", Type::number},
                                                                {"quantity", Type::quantity},
                                                                {"text", Type::text},
                                                                {"choice", Type::choice}}};
constexpr std::array<std::pair<const char*, Dimension>, 7> dimensions = {
    {{"byte", Dimension::bytes},
     {"s", Dimension::seconds},
     {"FLOP", Dimension::flop},
     {"FLOP/s", Dimension::flop_per_s},
     {"byte/s", Dimension::bytes_per_s},
     {"W", Dimension::watts},
     {"J", Dimension::joules}}};

template <class Table>
auto find(const Table& table, const char* what, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, value] : table) {
    if (name == known) return value;
    names.emplace_back(known);
  }
  throw InputError(std::string("unknown ") + what + " '" + name +
                   "' of a policy's parameter; known: " + join(names));
}

template <class T>
void take(const py::dict& from, const char* key, T& to) {
  if (from.contains(key) && !from[key].is_none()) to = from[key].cast<T>();
}

Field field_of(const py::dict& parameter) {
  Field field;
  field.name = parameter["name"].cast<std::string>();
  field.type = find(types, "type", parameter["type"].cast<std::string>());
  field.summary = parameter["summary"].cast<std::string>();
  if (!parameter["default"].is_none())
    field.default_text = parameter["default"].cast<std::string>();
  take(parameter, "optional", field.optional);
  take(parameter, "choices", field.choices);
  take(parameter, "minimum", field.minimum);
  take(parameter, "maximum", field.maximum);
  if (field.type == Type::quantity)
    field.dimension = find(dimensions, "unit", parameter["unit"].cast<std::string>());
  return field;
}

/// Returns the value of a policy's parameter as a Python object of the parameter's type. Quantities become numbers in
/// SI units. If the parameter has neither a value nor a default, returns None.
py::object value_of(const Field& field, const Reader& reader) {
  if (!reader.has(field.name) && !field.default_text) return py::none();
  const bool word =
      field.type != Type::choice &&
      std::any_of(field.choices.begin(), field.choices.end(),
                  [&](const std::string& choice) { return reader.is_word(field.name, choice); });
  if (word) return py::cast(reader.text(field.name));
  switch (field.type) {
    case Type::boolean:
      return py::cast(reader.boolean(field.name));
    case Type::integer:
      return py::cast(reader.integer(field.name));
    case Type::number:
      return py::cast(reader.number(field.name));
    case Type::quantity:
      if (field.dimension == Dimension::bytes) return py::cast(reader.bytes(field.name));
      return py::cast(reader.quantity(field.name));
    default:
      return py::cast(reader.text(field.name));
  }
}

py::dict values_of(const std::vector<Field>& fields, const Reader& reader) {
  py::dict values;
  for (const Field& field : fields) values[py::str(field.name)] = value_of(field, reader);
  return values;
}

/// Returns the stages as the policy sees them. If the scenario does not count workspaces, their bytes are 0 in these
/// stages.
std::vector<Stage> stages_of(const PolicyRequest& request) {
  std::vector<Stage> stages = request.pricing.stages;
  if (!request.working_set_counted)
    for (Stage& stage : stages) stage.workspace_bytes = 0;
  return stages;
}

py::dict workload_of(const PolicyRequest& request) {
  const Workload& workload = request.workload;
  py::dict values;
  values["mode"] = workload.training ? "training" : "inference";
  values["strategy"] = request.strategy().name;
  values["dtype"] = std::string(name_of(workload.dtype));
  values["batch"] = workload.batch;
  values["micro_batch"] = workload.micro_batch;
  values["batches_per_step"] = workload.batches_per_step;
  values["steps"] = workload.steps;
  values["micro_batches_per_step"] = workload.micro_batches_per_step();
  return values;
}

/// Checks two conditions that a builder cannot check, because it does not know the scenario. First, each action belongs
/// to an existing stage, or is a transfer without a stage. Second, a plan for inference has no action of a kind that is
/// only for training.
void require_priceable(const Plan& plan, const PolicyRequest& request) {
  const std::vector<Stage>& stages = request.pricing.stages;
  const auto count = static_cast<std::int32_t>(stages.size());
  for (const Action& action : plan.actions) {
    const auto fail = [&](const std::string& what) {
      throw InputError("action '" + name_of(action) + "' of policy '" + plan.name + "' " + what);
    };
    if (action.stage >= count || action.stage < (action.is_transfer() ? -1 : 0))
      fail("is of stage " + std::to_string(action.stage) + "; expected 0 ('" + stages.front().name +
           "')" +
           (count > 1 ? " to " + std::to_string(count - 1) + " ('" + stages.back().name + "')"
                      : ""));
    if (record_of(action.kind).trains && !request.workload.training)
      fail("is of the kind " + std::string(name_of(action.kind)) +
           ", which is only for 'mode: training'; the mode is inference");
  }
}

/// Throws InputError if the actions of the plan do not finish as many samples as the workload has. Without this check,
/// the makespan of a plan could be right, and its throughput wrong.
void require_all_samples(const Plan& plan, const PolicyRequest& request) {
  std::int64_t done = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    done += plan.executions_of(a) * plan.actions[a].samples_done;
  const Workload& workload = request.workload;
  const std::int64_t asked = workload.steps * workload.batches_per_step * workload.batch;
  if (done != asked)
    throw InputError(
        "the actions of policy '" + plan.name + "' finish " + std::to_string(done) +
        " samples of the " + std::to_string(asked) +
        " samples of the workload: call action.done(samples) on each action that completes samples, "
        "so that each sample counts once");
}

/// Returns the modes and fates for which a policy can make plans: one element per mode. Each element lists the same
/// `strategies` for fates.
std::vector<PlansFor> plans_for(const std::string& policy, const std::vector<std::string>& modes,
                                const std::vector<std::string>& strategies) {
  // find() throws InputError for an unknown strategy.
  for (const std::string& strategy : strategies) fate_catalog().find(strategy);
  std::vector<PlansFor> plans;
  for (const std::string& mode : modes) {
    if (mode != name_of(Mode::inference) && mode != name_of(Mode::training))
      throw InputError("'" + mode + "' for the modes of policy '" + policy +
                       "': expected inference or training");
    plans.push_back(
        {mode == name_of(Mode::training) ? Mode::training : Mode::inference, strategies});
  }
  return plans;
}

/// Calls the Python function of a policy, checks the plan that it returns, and returns this plan. If the Python
/// function raises an exception, this exception is passed on to the caller.
Plan plan_in_python(const py::handle& function, const std::string& name,
                    const PolicyRequest& request, const Reader& reader,
                    const std::vector<Field>& fields) {
  Plan plan;
  {
    const py::gil_scoped_acquire hold_gil;
    const py::object returned =
        function(stages_of(request), std::make_shared<Platform>(request.pricing.platform),
                 workload_of(request), values_of(fields, reader));
    const py::object handle = py::getattr(returned, "_native", returned);
    if (!py::isinstance<PlanHandle>(handle))
      throw InputError("policy '" + name + "' returned " +
                       py::str(py::type::of(returned)).cast<std::string>() +
                       ", expected the Plan that builder.finish() returns");
    plan = *handle.cast<const PlanHandle&>().plan;
  }
  for (Pool& pool : plan.pools) pool.enforced = pool.enforced && request.capacity_enforced;
  require_priceable(plan, request);
  require_all_samples(plan, request);
  return plan;
}

}  // namespace

void bind_policy(py::module_& module) {
  module.def("add_policy", [](const std::string& name, const std::string& summary,
                              const std::string& source, const std::vector<py::dict>& parameters,
                              bool all_devices, const std::vector<std::string>& modes,
                              const std::vector<std::string>& strategies,
                              const py::function& function) {
    std::vector<Field> fields;
    for (const py::dict& parameter : parameters) fields.push_back(field_of(parameter));
    // Policies and their Python functions are never freed.
    const py::handle kept = function.inc_ref();
    add_policy({.name = name,
                .summary = summary,
                .source = source,
                .parameters = fields,
                .modes = plans_for(name, modes, strategies),
                .all_devices = all_devices,
                .plan = [kept, name, fields](const PolicyRequest& request, const Reader& reader) {
                  return plan_in_python(kept, name, request, reader, fields);
                }});
  });
}

}  // namespace sluice::python
