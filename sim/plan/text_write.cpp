// Writing a plan as text and as CSV.
#include <sstream>
#include <utility>

#include "base/quantity.hpp"
#include "plan/text.hpp"
#include "plan/words.hpp"

namespace sluice {

namespace {

std::string placement_text(const Plan& plan, const Placement& placement) {
  return quoted(plan.tensors[placement.tensor].name) + "@" +
         quoted(plan.pools[placement.pool].name);
}

std::string wait_text(const Plan& plan, std::uint32_t from, const Wait& wait) {
  std::string text;
  const Section other = plan.section_of(wait.action);
  if (other != plan.section_of(from)) text = std::string(name_of(other)) + ":";
  text += quoted(plan.actions[wait.action].name);
  if (wait.distance > 0) text += "~" + std::to_string(wait.distance);
  return text;
}

template <class List, class Write>
std::string list_text(const List& list, Write&& write, const char* separator = ",") {
  std::string text;
  for (const auto& element : list) {
    if (!text.empty()) text += separator;
    text += write(element);
  }
  return text;
}

template <class List, class Write>
void add_list(std::string& out, std::string_view key, const List& list, Write&& write) {
  char separator = '=';
  for (const auto& element : list) {
    if (separator == '=') out.append(" ").append(key);
    out += std::exchange(separator, ',');
    out += write(element);
  }
}

void add(std::string& out, std::string_view key, std::string_view value) {
  out.append(" ").append(key).append("=").append(value);
}

void add_count(std::string& out, std::string_view key, std::int64_t value, std::int64_t absent) {
  if (value != absent) add(out, key, std::to_string(value));
}

void add_number(std::string& out, std::string_view key, double value) {
  if (value != 0) add(out, key, exact(value));
}

/// Appends: a plan may have millions of actions.
void add_action(std::string& out, const Plan& plan, std::uint32_t a) {
  const Action& action = plan.actions[a];
  out += quoted(action.name);
  add(out, "on", quoted(plan.streams[action.stream].name));
  add(out, "kind", name_of(action.kind));
  add_count(out, "stage", action.stage, -1);
  add_count(out, "micro_batch", action.micro_batch, -1);
  add_count(out, "samples", action.samples, 0);
  add_count(out, "samples_done", action.samples_done, 0);
  if (action.is_transfer()) {
    add(out, "moves", quoted(plan.tensors[action.moves].name));
    add(out, "route", quoted(plan.routes.at(action.route).name));
    add(out, "bytes", std::to_string(action.bytes));
  } else {
    add(out, "seconds", exact(action.seconds));
    add_number(out, "flop", action.flop);
    add_number(out, "memory_bytes", action.memory_bytes);
    add_number(out, "joules", action.joules);
  }
  add_count(out, "ahead", action.ahead, 0);
  const auto placement = [&](const Placement& p) { return placement_text(plan, p); };
  add_list(out, "waits", action.waits, [&](const Wait& w) { return wait_text(plan, a, w); });
  add_list(out, "allocates", action.allocates, placement);
  add_list(out, "uses", action.uses, placement);
  out += '\n';
}

void write_tables(std::ostream& out, const Plan& plan) {
  for (const Pool& pool : plan.pools) {
    out << "pool " << quoted(pool.name) << " capacity="
        << (pool.capacity ? std::to_string(*pool.capacity) + "B" : std::string("unlimited"));
    out << (pool.shared ? " shared" : "") << (pool.enforced ? "" : " not_enforced") << '\n';
  }
  for (const Link& link : plan.links)
    out << "link " << quoted(link.name) << " bandwidth=" << exact(link.bandwidth)
        << "B/s idle=" << exact(link.idle_w) << "W busy=" << exact(link.busy_w) << "W\n";
  for (const Route& route : plan.routes)
    out << "route " << quoted(route.name) << " links="
        << list_text(route.links, [&](auto link) { return quoted(plan.links[link].name); })
        << " setup=" << exact(route.setup_s) << "s latency=" << exact(route.latency_s) << "s\n";
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
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::ostringstream head;
  head << "format: sluice-plan/1\nname " << quoted(plan.name) << "\niterations " << plan.iterations
       << "\nsteps_per_iteration " << plan.steps_per_iteration << '\n';
  for (const auto& [key, value] : plan.facts)
    head << "fact " << quoted(key) << " " << quoted(value) << '\n';
  write_tables(head, plan);
  std::string out = head.str();
  out.reserve(out.size() + 128 * plan.actions.size());
  for (Section section : {Section::prologue, Section::body, Section::epilogue}) {
    if (plan.section_begin(section) == plan.section_end(section)) continue;
    out.append(name_of(section)).append(":\n");
    for (std::uint32_t a = plan.section_begin(section); a < plan.section_end(section); ++a)
      add_action(out, plan, a);
  }
  return out;
}

namespace {
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}
}  // namespace

std::string to_csv(const Plan& plan) {
  std::ostringstream out;
  out << "section,action,stream,kind,stage,micro_batch,samples,seconds,flop,tensor,bytes,from_to,"
         "ahead,waits,allocates,uses\r\n";
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    const bool moves = action.is_transfer();
    const auto placement = [&](const Placement& p) { return placement_text(plan, p); };
    const auto wait = [&](const Wait& w) { return wait_text(plan, a, w); };
    const std::string cells[] = {std::string(name_of(plan.section_of(a))),
                                 action.name,
                                 plan.streams[action.stream].name,
                                 std::string(name_of(action.kind)),
                                 action.stage < 0 ? "" : std::to_string(action.stage),
                                 action.micro_batch < 0 ? "" : std::to_string(action.micro_batch),
                                 moves ? "" : std::to_string(action.samples),
                                 moves ? "" : exact(action.seconds),
                                 moves ? "" : exact(action.flop),
                                 moves ? plan.tensors[action.moves].name : "",
                                 moves ? std::to_string(action.bytes) : "",
                                 moves ? plan.routes[action.route].name : "",
                                 std::to_string(action.ahead),
                                 list_text(action.waits, wait, " "),
                                 list_text(action.allocates, placement, " "),
                                 list_text(action.uses, placement, " ")};
    bool first = true;
    for (const std::string& cell : cells) {
      if (!std::exchange(first, false)) out << ',';
      out << csv_cell(cell);
    }
    out << "\r\n";
  }
  return out.str();
}

}  // namespace sluice
