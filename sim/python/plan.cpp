// The binding of plans for the Python module.
#include "plan/plan.hpp"

#include <pybind11/stl.h>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"
#include "python/columns.hpp"
#include "run/plan_json.hpp"

namespace sluice::python {
namespace {

const Plan& lowered(const PlanHandle& self) {
  if (!self.lowered)
    throw InputError(
        "this plan has no seconds and routes yet: return the plan from a policy, and the scenario adds "
        "them; or give the seconds of each computation by Action.takes()");
  return *self.plan;
}

std::string name_or_empty(std::uint32_t index, const auto& rows) {
  return index == none ? std::string() : rows[index].name;
}

template <class T>
py::array_t<T> action_numbers(const Plan& plan, T Action::*member) {
  return numbers<T>(plan.actions, [&](const Action& action) { return action.*member; });
}

/// Returns a text with one word per element of `list`, such as "gpu:w0 gpu:x3". A word names the pool and the tensor.
template <class List>
std::string placements(const Plan& plan, const List& list) {
  std::string text;
  for (const auto& one : list) {
    text +=
        (text.empty() ? "" : " ") + plan.pools[one.pool].name + ":" + plan.tensors[one.tensor].name;
    if constexpr (requires { one.distance; })
      if (one.distance > 0) text += "~" + std::to_string(one.distance);
  }
  return text;
}

/// Returns a list with one text per action. The text has one word per flow of the action. Blanks separate the words.
template <class Word>
py::list flow_words(const Plan& plan, Word&& word) {
  return texts(plan.actions, [&](const Action& action) {
    std::string text;
    for (const Flow& flow : action.flows) text += (text.empty() ? "" : " ") + word(flow);
    return text;
  });
}

py::list waits(const Plan& plan) {
  py::list column;
  for (const Action& action : plan.actions) {
    py::list list;
    for (const Wait& wait : action.waits) list.append(py::make_tuple(wait.action, wait.distance));
    column.append(py::tuple(list));
  }
  return column;
}

py::dict action_columns(const PlanHandle& self) {
  const Plan& plan = *self.plan;
  const std::vector<Action>& rows = plan.actions;
  py::dict table;
  table["name"] = texts(rows, [](const Action& a) { return name_of(a); });
  py::list sections;
  for (std::uint32_t a = 0; a < rows.size(); ++a)
    sections.append(std::string(name_of(plan.section_of(a))));
  table["section"] = sections;
  table["stream"] = texts(rows, [&](const Action& a) { return plan.streams[a.stream].name; });
  table["kind"] = texts(rows, [](const Action& a) { return name_of(a.kind); });
  table["stage"] = action_numbers(plan, &Action::stage);
  table["micro_batch"] = action_numbers(plan, &Action::micro_batch);
  table["samples"] = action_numbers(plan, &Action::samples);
  table["seconds"] = action_numbers(plan, &Action::seconds);
  table["flop"] = action_numbers(plan, &Action::flop);
  table["joules"] = action_numbers(plan, &Action::joules);
  table["moves"] =
      flow_words(plan, [&](const Flow& f) { return name_or_empty(f.tensor, plan.tensors); });
  table["source"] =
      flow_words(plan, [&](const Flow& f) { return name_or_empty(f.from, plan.pools); });
  table["target"] =
      flow_words(plan, [&](const Flow& f) { return name_or_empty(f.to, plan.pools); });
  table["bytes"] =
      numbers<std::int64_t>(rows, [](const Action& action) { return action.moved_bytes(); });
  table["not_before"] = action_numbers(plan, &Action::not_before);
  table["collective"] =
      texts(rows, [&](const Action& a) { return name_or_empty(a.collective, plan.collectives); });
  table["ahead"] = action_numbers(plan, &Action::ahead);
  table["waits"] = waits(plan);
  table["allocates"] = texts(rows, [&](const Action& a) { return placements(plan, a.allocates); });
  table["uses"] = texts(rows, [&](const Action& a) { return placements(plan, a.uses); });
  return table;
}

py::dict tensor_columns(const PlanHandle& self) {
  const Plan& plan = *self.plan;
  py::dict table;
  table["name"] = texts(plan.tensors, [](const Tensor& t) { return t.name; });
  table["class"] = texts(plan.tensors, [](const Tensor& t) { return name_of(t.tensor_class); });
  table["bytes"] = numbers<std::int64_t>(plan.tensors, [](const Tensor& t) { return t.bytes; });
  table["home"] =
      texts(plan.tensors, [&](const Tensor& t) { return name_or_empty(t.home, plan.pools); });
  return table;
}

PlanHandle parse(const std::string& text, const std::string& name) {
  return {std::make_shared<const Plan>(plan_from_text(text, name))};
}

}  // namespace

void bind_plan(py::module_& module) {
  py::class_<PlanHandle>(module, "Plan")
      .def_static("parse", &parse, FreeGil())
      .def(
          "text", [](const PlanHandle& self) { return to_text(lowered(self)); }, FreeGil())
      .def(
          "csv", [](const PlanHandle& self) { return to_csv(lowered(self)); }, FreeGil())
      .def(
          "check", [](const PlanHandle& self) { check(lowered(self)); }, FreeGil())
      .def("actions", &action_columns)
      .def("tensors", &tensor_columns)
      .def_property_readonly("name", [](const PlanHandle& self) { return self.plan->name; })
      .def_property_readonly("lowered", [](const PlanHandle& self) { return self.lowered; })
      .def_property_readonly("size",
                             [](const PlanHandle& self) { return self.plan->actions.size(); })
      .def_property_readonly("executions",
                             [](const PlanHandle& self) {
                               std::int64_t sum = 0;
                               for (std::uint32_t a = 0; a < self.plan->actions.size(); ++a)
                                 sum += self.plan->executions_of(a);
                               return sum;
                             })
      .def_property_readonly("iterations",
                             [](const PlanHandle& self) { return self.plan->iterations; })
      .def_property_readonly("stages", [](const PlanHandle& self) { return self.plan->stages; })
      .def_property_readonly(
          "facts", [](const PlanHandle& self) { return to_json(json_facts(self.plan->facts), 0); });
}

}  // namespace sluice::python
