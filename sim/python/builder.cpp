// The builder with which a policy in Python makes a plan. The class Builder of this file wraps the class PlanBuilder of
// planning/builder.hpp. Python passes kinds of actions, classes of tensors, devices and memories as texts, and Builder
// checks these texts.
#include "planning/builder.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <variant>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "planning/lower.hpp"
#include "python/module.hpp"

namespace sluice::python {
namespace {

using Ref = PlanBuilder::Ref;
using FactValue = std::variant<double, std::string, Fact::List>;

/// Returns the value of the enumeration `Enum` that is called `name`. Throws InputError if no value has this name.
template <class Enum>
Enum by_name(const char* kind, const std::string& name, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.emplace_back(name_of(static_cast<Enum>(i)));
    if (names.back() == name) return static_cast<Enum>(i);
  }
  throw InputError(std::string("unknown ") + kind + " '" + name + "'" + did_you_mean(name, names) +
                   "; known: " + join(names));
}

ActionKind kind_named(const std::string& name, bool transfer) {
  std::vector<std::string> names;
  for (const KindRecord& record : action_kinds()) {
    if (record.transfers != transfer) continue;
    names.emplace_back(record.name);
    if (record.name == name) return record.kind;
  }
  throw InputError("unknown kind of " + std::string(transfer ? "transfer" : "computation") + " '" +
                   name + "'" + did_you_mean(name, names) + "; known: " + join(names));
}

/// A builder of one plan. It shares the ownership of the platform. After finish() has been called, each further call
/// throws InputError.
class Builder {
 public:
  Builder(std::shared_ptr<Platform> platform, const std::string& name, bool enforce)
      : platform_(std::move(platform)), builder_(std::in_place, *platform_, name, enforce) {
    for (const Device& device : platform_->devices) nodes_.push_back(device.name);
    for (const Memory& memory : platform_->memories) nodes_.push_back(memory.name);
  }

  void memory(const std::string& name, const std::string& device,
              std::optional<std::int64_t> capacity) {
    platform_->device(device);  // Throws an error with the known names if there is no such device.
    if (std::find(nodes_.begin(), nodes_.end(), name) != nodes_.end())
      throw InputError("choose another name: a device or memory is already called '" + name + "'");
    open().memory(name, device, capacity);
    nodes_.push_back(name);
  }
  void way(const std::string& from, const std::string& to, double bandwidth, double setup_s,
           double latency_s) {
    require_node(from);
    require_node(to);
    if (!(bandwidth > 0) || !std::isfinite(bandwidth) || !(setup_s >= 0) || !(latency_s >= 0))
      throw InputError("the link from '" + from + "' to '" + to + "' has bandwidth " +
                       exact(bandwidth) + ", setup " + exact(setup_s) + ", latency " +
                       exact(latency_s) +
                       "; expected a bandwidth of more than 0 byte/s, and seconds of at least 0");
    open().way(from, to, bandwidth, setup_s, latency_s);
  }
  std::uint32_t collective(const std::string& name, const std::string& kind,
                           const std::vector<std::string>& devices, std::int64_t bytes,
                           const std::string& algorithm) {
    for (const std::string& device : devices) platform_->device(device);
    std::vector<std::string> kinds;
    for (const KindRecord& record : action_kinds()) {
      if (!record.is_collective) continue;
      kinds.emplace_back(record.name);
      if (record.name == kind)
        return collectives_ = open().collective({name, record.kind, algorithm, devices, bytes});
    }
    throw InputError("unknown kind of collective '" + kind + "'" + did_you_mean(kind, kinds) +
                     "; known: " + join(kinds));
  }

  std::uint32_t tensor(const std::string& name, const std::string& tensor_class, std::int64_t bytes,
                       const std::string& home) {
    if (!home.empty()) require_node(home);
    if (!names_.insert(name).second)
      throw InputError("choose another name: a tensor is already called '" + name + "'");
    ++tensors_;
    return open().tensor(
        name, by_name<TensorClass>("tensor class", tensor_class, tensor_class_count), bytes, home);
  }

  void enter(const std::string& section) { open().enter(by_name<Section>("section", section, 3)); }

  Ref compute(const std::string& kind, const std::string& device, int stage, int micro_batch,
              std::int64_t samples) {
    platform_->device(device);  // Throws an error with the known names if there is no such device.
    return open().compute(kind_named(kind, /*transfer=*/false), device, stage, micro_batch,
                          samples);
  }

  Ref transfer(const std::string& kind, std::uint32_t tensor, const PlanBuilder::TransferEnds& ends,
               int stage, int micro_batch) {
    require_node(ends.from);
    require_node(ends.to);
    require_tensor(tensor);
    return open().transfer(kind_named(kind, /*transfer=*/true), tensor, ends, stage, micro_batch);
  }

  void wait(Ref ref, std::optional<Ref> on, std::uint32_t distance) {
    require(ref);
    if (on) require(*on);
    open().wait(ref, on.value_or(Ref{}), distance);
  }
  void allocate(Ref ref, std::uint32_t tensor, const std::string& node) {
    require_tensor(tensor);
    action(ref).allocates.push_back({tensor, pool(node)});
  }
  void use(Ref ref, std::uint32_t tensor, const std::string& node, bool read, bool written,
           std::uint16_t distance) {
    require_tensor(tensor);
    action(ref).uses.push_back({tensor, pool(node), read, written, distance});
  }
  void flow(Ref ref, std::uint32_t tensor, const std::string& from, const std::string& to,
            std::optional<std::int64_t> bytes) {
    require(ref);
    require_tensor(tensor);
    require_node(from);
    require_node(to);
    open().flow(ref, tensor, from, to, bytes.value_or(open().bytes_of(tensor)));
  }
  void not_before(Ref ref, double seconds) {
    if (!(seconds >= 0) || !std::isfinite(seconds))
      throw InputError(exact(seconds) + " s for 'not_before': expected at least 0");
    action(ref).not_before = seconds;
  }
  void takes(Ref ref, double seconds) {
    if (!(seconds >= 0) || !std::isfinite(seconds))
      throw InputError(exact(seconds) + " s for 'takes': expected at least 0");
    if (record_of(action(ref).kind).transfers)
      throw InputError(
          "takes() is only for computations: the seconds of a transfer follow from "
          "its bytes and its route");
    action(ref).seconds = seconds;
  }
  void part_of(Ref ref, std::uint32_t collective) {
    if (collectives_ == none || collective > collectives_)
      throw InputError("there is no collective " + std::to_string(collective));
    action(ref).collective = collective;
  }
  void samples_done(Ref ref, std::int64_t samples) { action(ref).samples_done = samples; }
  void ahead(Ref ref, int iterations) { action(ref).ahead = iterations; }
  void fact(const std::string& name, const FactValue& value, const std::string& unit,
            const std::string& of) {
    const double* number = std::get_if<double>(&value);
    if (!number && !unit.empty())
      throw InputError("fact '" + name + "' has the unit '" + unit +
                       "' but its value is not a number; leave out the "
                       "unit");
    Fact fact = std::visit([&](const auto& held) { return Fact(name, held); }, value);
    if (number) fact.value = Fact::Number{*number, unit};
    fact.of = of;
    open().fact(std::move(fact));
  }

  PlanHandle finish(std::int64_t iterations, std::int64_t steps_per_iteration) {
    Plan plan = open().finish(iterations, steps_per_iteration);
    builder_.reset();
    const bool lowered = lower_as_written(plan, *platform_);
    return {std::make_shared<const Plan>(std::move(plan)), lowered};
  }

 private:
  PlanBuilder& open() {
    if (!builder_)
      throw InputError("this builder has finished its plan; make a new builder for another plan");
    return *builder_;
  }
  void require_node(const std::string& node) const {
    for (const std::string& known : nodes_)
      if (known == node) return;
    throw InputError("no device or memory is called '" + node + "'" + did_you_mean(node, nodes_) +
                     "; known: " + join(nodes_));
  }
  void require_tensor(std::uint32_t tensor) const {
    if (tensor >= tensors_) throw InputError("there is no tensor " + std::to_string(tensor));
  }
  void require(Ref ref) const {
    if (!ref) throw InputError("expected an Action returned by this builder");
  }
  std::uint32_t pool(const std::string& node) {
    require_node(node);
    return open().pool(node);
  }
  Action& action(Ref ref) {
    require(ref);
    return open().at(ref);
  }

  std::shared_ptr<Platform> platform_;
  std::optional<PlanBuilder> builder_;
  std::vector<std::string> nodes_;
  std::set<std::string> names_;
  std::uint32_t tensors_ = 0;
  std::uint32_t collectives_ = none;  ///< number of the latest collective that was added
};

}  // namespace

void bind_builder(py::module_& module) {
  using py::arg;
  py::class_<Ref>(module, "Ref");
  py::class_<Builder>(module, "PlanBuilder")
      .def(py::init<std::shared_ptr<Platform>, const std::string&, bool>())
      .def("tensor", &Builder::tensor)
      .def("enter", &Builder::enter)
      .def("compute", &Builder::compute)
      .def("transfer",
           [](Builder& self, const std::string& kind, std::uint32_t tensor, const std::string& from,
              const std::string& to, bool release, bool allocate, int stage, int micro_batch) {
             return self.transfer(kind, tensor, {from, to, release, allocate}, stage, micro_batch);
           })
      .def("wait", &Builder::wait)
      .def("allocate", &Builder::allocate)
      .def("use", &Builder::use)
      .def("samples_done", &Builder::samples_done)
      .def("ahead", &Builder::ahead)
      .def("memory", &Builder::memory)
      .def("way", &Builder::way)
      .def("collective", &Builder::collective)
      .def("flow", &Builder::flow)
      .def("not_before", &Builder::not_before)
      .def("takes", &Builder::takes)
      .def("part_of", &Builder::part_of)
      .def("fact", &Builder::fact)
      .def("finish", &Builder::finish);
}

}  // namespace sluice::python
