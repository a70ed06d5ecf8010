// Writes a plan as text and as CSV.
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/csv.hpp"
#include "base/large_pages.hpp"
#include "base/quantity.hpp"
#include "plan/fact_text.hpp"
#include "plan/text.hpp"
#include "plan/words.hpp"

namespace sluice {

namespace {

/// `distance` is Access::distance.
void add_placement(std::string& out, const Plan& plan, const Placement& placement,
                   std::uint16_t distance = 0) {
  add_quoted(out, plan.tensors[placement.tensor].name);
  if (distance > 0) out.append("~").append(std::to_string(distance));
  out += '@';
  add_quoted(out, plan.pools[placement.pool].name);
}

void add_access(std::string& out, const Plan& plan, const Access& use) {
  add_placement(out, plan, use.placement(), use.distance);
  if (use.written) out += use.read ? ":rw" : ":w";
}

void add_flow(std::string& out, const Plan& plan, const Flow& flow) {
  if (flow.tensor != none) add_quoted(out, plan.tensors[flow.tensor].name);
  out += '@';
  add_quoted(out, plan.routes.at(flow.route).name);
  if (flow.tensor == none || flow.bytes != plan.tensors[flow.tensor].bytes)
    out.append(":").append(std::to_string(flow.bytes));
}

/// The names of all actions, with quotes around names that need quotes. An action may wait for an action that is far
/// away in the plan. Its name must be found fast, so all names are next to each other in memory.
class ActionNames {
 public:
  explicit ActionNames(const Plan& plan) {
    ends_.reserve(plan.actions.size() + 1);
    ends_.push_back(0);
    for (const Action& action : plan.actions) {
      add_quoted(text_, name_of(action));
      ends_.push_back(text_.size());
    }
  }
  std::string_view operator[](std::uint32_t a) const {
    return std::string_view(text_).substr(ends_[a], ends_[a + 1] - ends_[a]);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

void add_wait(std::string& out, const Plan& plan, const ActionNames& names, std::uint32_t from,
              const Wait& wait) {
  const Section other = plan.section_of(wait.action);
  if (other != plan.section_of(from)) out.append(name_of(other)).append(":");
  out += names[wait.action];
  if (wait.distance > 0) out.append("~").append(std::to_string(wait.distance));
}

/// Appends a list to `out`, or nothing if the list is empty. `key` is the text before the list, such as " waits=".
/// `add` appends an element.
template <class List, class Add>
void add_list(std::string& out, std::string_view key, const List& list, Add&& add,
              std::string_view separator = ",") {
  for (const auto& element : list) {
    out += std::exchange(key, separator);
    add(element);
  }
}

void add_name(std::string& out, std::string_view key, std::string_view name) {
  out += key;
  add_quoted(out, name);
}

template <class Number>
void add_number(std::string& out, std::string_view key, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out += key;
  out.append(digits.data(), end);
}

template <class Number>
void add_unless(Number absent, std::string& out, std::string_view key, Number value) {
  if (value != absent) add_number(out, key, value);
}

bool has_own_name(const Action& action) {
  return !action.name.empty() &&
         formula_of(action.name) != FormulaName{action.kind, action.stage, action.micro_batch};
}

void add_flows(std::string& out, const Plan& plan, const Action& action) {
  const bool simple =
      action.is_transfer() && action.flows.size() == 1 && action.flow().tensor != none;
  if (!simple)
    return add_list(out, " flows=", action.flows,
                    [&](const Flow& flow) { add_flow(out, plan, flow); });
  const Flow& flow = action.flow();
  add_name(out, " moves=", plan.tensors[flow.tensor].name);
  add_name(out, " route=", plan.routes.at(flow.route).name);
  if (flow.bytes != plan.tensors[flow.tensor].bytes) add_number(out, " bytes=", flow.bytes);
}

void add_work(std::string& out, const Plan& plan, const Action& action) {
  add_flows(out, plan, action);
  if (action.is_transfer()) return;
  add_number(out, " seconds=", action.seconds);
  add_unless(0.0, out, " flop=", action.flop);
  add_unless(0.0, out, " memory_bytes=", action.memory_bytes);
  add_unless(0.0, out, " joules=", action.joules);
  add_unless(0.0, out, " measured_s=", action.measured_s);
  if (action.part != WorkPart::whole) add_name(out, " part=", name_of(action.part));
}

/// Appends the line of an action to `out`, the text of the plan. A plan may have millions of actions, so each line is
/// written directly into this text.
void add_action(std::string& out, const Plan& plan, const ActionNames& names, std::uint32_t a) {
  const Action& action = plan.actions[a];
  out += names[a];
  add_name(out, " on=", plan.streams[action.stream].name);
  if (has_own_name(action)) {  // Without the key `kind`, the name gives the kind.
    add_name(out, " kind=", name_of(action.kind));
    add_unless(-1, out, " stage=", action.stage);
    add_unless(-1, out, " micro_batch=", action.micro_batch);
  }
  add_unless<std::int64_t>(0, out, " samples=", action.samples);
  add_unless<std::int64_t>(0, out, " samples_done=", action.samples_done);
  add_work(out, plan, action);
  if (action.collective != none)
    add_name(out, " collective=", plan.collectives[action.collective].name);
  add_unless(0, out, " ahead=", action.ahead);
  if (action.not_before != 0) {
    add_number(out, " not_before=", action.not_before);
    out += 's';
  }
  add_list(out, " waits=", action.waits, [&](const Wait& w) { add_wait(out, plan, names, a, w); });
  add_list(out, " allocates=", action.allocates,
           [&](const Placement& p) { add_placement(out, plan, p); });
  add_list(out, " uses=", action.uses, [&](const Access& use) { add_access(out, plan, use); });
  out += '\n';
}

void write_tables(std::ostream& out, const Plan& plan) {
  for (const Pool& pool : plan.pools) {
    out << "pool " << quoted(pool.name) << " capacity="
        << (pool.capacity ? std::to_string(*pool.capacity) + "B" : std::string("unlimited"));
    if (pool.limit) out << " limit=" << *pool.limit << "B";
    if (!pool.shared()) out << " owner=" << quoted(pool.owner);
    out << (pool.enforced ? "" : " not_enforced") << '\n';
  }
  for (const Link& link : plan.links)
    out << "link " << quoted(link.name) << " bandwidth=" << exact(link.bandwidth)
        << "B/s idle=" << exact(link.idle_w) << "W busy=" << exact(link.busy_w) << "W\n";
  for (const Route& route : plan.routes) {
    std::string links;
    add_list(links, "", route.links, [&](auto link) { add_quoted(links, plan.links[link].name); });
    out << "route " << quoted(route.name) << " links=" << links << " setup=" << exact(route.setup_s)
        << "s latency=" << exact(route.latency_s) << "s\n";
  }
  for (const Stream& stream : plan.streams)
    out << "stream " << quoted(stream.name)
        << " kind=" << (stream.kind == StreamKind::compute ? "compute" : "copy")
        << " device=" << quoted(stream.device) << " idle=" << exact(stream.idle_w)
        << "W busy=" << exact(stream.busy_w) << "W\n";
  for (const std::string& stage : plan.stages) out << "stage " << quoted(stage) << '\n';
  for (const Tensor& tensor : plan.tensors)
    out << "tensor " << quoted(tensor.name) << " class=" << name_of(tensor.tensor_class)
        << " bytes=" << tensor.bytes
        << (tensor.home == none ? "" : " home=" + quoted(plan.pools[tensor.home].name)) << '\n';
  for (const Collective& collective : plan.collectives) {
    std::string devices;
    add_list(devices, "", collective.devices, [&](const auto& name) { add_quoted(devices, name); });
    out << "collective " << quoted(collective.name) << " kind=" << name_of(collective.kind)
        << " devices=" << devices;
    if (!collective.algorithm.empty()) out << " algorithm=" << quoted(collective.algorithm);
    out << " bytes=" << collective.bytes << '\n';
  }
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::ostringstream head;
  head << "format: sluice-plan/2\nname " << quoted(plan.name) << "\niterations " << plan.iterations
       << "\nsteps_per_iteration " << plan.steps_per_iteration << '\n';
  if (plan.iterations_per_step != 1)
    head << "iterations_per_step " << plan.iterations_per_step << '\n';
  for (const Fact& fact : plan.facts) head << fact_line(fact) << '\n';
  write_tables(head, plan);
  const ActionNames names(plan);
  std::string out = head.str();
  out.reserve(out.size() + 128 * plan.actions.size());
  prefer_large_pages(out.data(), out.capacity());
  for (Section section : {Section::prologue, Section::body, Section::epilogue}) {
    if (plan.section_begin(section) == plan.section_end(section)) continue;
    out.append(name_of(section)).append(":\n");
    for (std::uint32_t a = plan.section_begin(section); a < plan.section_end(section); ++a)
      add_action(out, plan, names, a);
  }
  return out;
}

namespace {

/// Returns the cells of one action, in the order of the columns.
std::vector<std::string> cells_of(const Plan& plan, const ActionNames& names, std::uint32_t a) {
  const Action& action = plan.actions[a];
  const bool moves = action.is_transfer();
  std::string flows, waits, allocates, uses;
  const auto list = [&](std::string& cell, const auto& elements, auto&& add) {
    add_list(cell, "", elements, add, " ");
  };
  list(flows, action.flows, [&](const Flow& flow) { add_flow(flows, plan, flow); });
  list(waits, action.waits, [&](const Wait& w) { add_wait(waits, plan, names, a, w); });
  list(allocates, action.allocates, [&](const Placement& p) { add_placement(allocates, plan, p); });
  list(uses, action.uses, [&](const Access& use) { add_access(uses, plan, use); });
  return {std::string(name_of(plan.section_of(a))),
          name_of(action),
          plan.streams[action.stream].name,
          std::string(name_of(action.kind)),
          action.stage < 0 ? "" : std::to_string(action.stage),
          action.micro_batch < 0 ? "" : std::to_string(action.micro_batch),
          moves ? "" : std::to_string(action.samples),
          moves ? "" : exact(action.seconds),
          moves ? "" : exact(action.flop),
          flows,
          action.flows.empty() ? "" : std::to_string(action.moved_bytes()),
          action.not_before == 0 ? "" : exact(action.not_before),
          std::to_string(action.ahead),
          waits,
          allocates,
          uses};
}

}  // namespace

std::string to_csv(const Plan& plan) {
  const ActionNames names(plan);
  std::ostringstream out;
  out << "section,action,stream,kind,stage,micro_batch,samples,seconds,flop,flows,bytes,not_before,"
         "ahead,waits,allocates,uses\r\n";
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    bool first = true;
    for (const std::string& cell : cells_of(plan, names, a)) {
      if (!std::exchange(first, false)) out << ',';
      out << csv_cell(cell);
    }
    out << "\r\n";
  }
  return out.str();
}

}  // namespace sluice
