// Draws random machines. The devices are side by side, behind a switch or in groups, and have one memory or several
// memories.
#include "campaign/generator.hpp"

namespace sluice::test {
namespace {

std::string key(const std::string& name, const std::string& value) {
  return ", " + name + ": " + value;
}

/// Returns keys with further rates of a link: for copies of pageable memory, and for copies by the compute units.
std::string further_rates(Draws& draws) {
  std::string text;
  if (draws.one_in(8))
    text += key("pageable", draws.one_of({"{share: 0.4}", "{bandwidth: 40MB/s, setup: 2us}",
                                          "{share: 0.5, up: {share: 0.2}}"})) +
            key("copies", draws.one_of({"pageable", "pinned"}));
  if (draws.one_in(8))
    text += key("synchronous", draws.one_of({"{bandwidth: 2GB/s}", "{share: 0.7, setup: 1us}",
                                             "{share: 1, down: {share: 0.5}}"}));
  return text;
}

std::string link(Draws& draws, const std::string& joins, const std::vector<std::string>& rates) {
  std::string text = "{joins: [" + joins + "], bandwidth: " + draws.one_of(rates);
  if (draws.one_in(2)) text += key("latency", draws.one_of({"1us", "7us", "300us", "20ms"}));
  if (draws.one_in(3)) text += key("setup", draws.one_of({"1us", "3us", "50us"}));
  const bool half = draws.one_in(5);
  if (half) text += key("duplex", "half");
  if (!half && draws.one_in(5)) text += key("up", draws.one_of({"{share: 0.5}", "{setup: 9us}"}));
  if (!half && draws.one_in(5)) text += key("together", draws.one_of({"1.5", "1.1"}));
  if (!half) text += further_rates(draws);
  if (draws.one_in(3)) text += key("sharing", "private");
  if (draws.one_in(4)) text += key("idle", "3W") + key("busy", draws.one_of({"10W", "3W"}));
  return text + "}";
}

/// The ways in which the devices may be connected.
enum class Form { side_by_side, behind_switch, group_each, group_of_all };

enum class Memories { one, own_second, of_platform };

std::string memory_of_device(Draws& draws, Memories memories, DrawnMachine& machine) {
  if (memories == Memories::of_platform) return "[dram, host]";
  std::string first = "{capacity: unlimited";
  if (machine.has_bandwidth) first += key("bandwidth", draws.one_of({"1GB/s", "80GB/s"}));
  first += "}";
  if (memories == Memories::one) return first;
  const std::string second =
      "{name: ddr, capacity: " + draws.one_of({"unlimited", "4MB", "200kB"}) +
      key("bandwidth", draws.one_of({"600MB/s", "20GB/s"})) + "}";
  return "[" + first + ", " + second + "]";
}

std::string device_text(Draws& draws, Memories memories, DrawnMachine& machine, int count) {
  std::string device = "{count: " + std::to_string(count);
  const std::string rate = draws.one_of({"1GFLOP/s", "10GFLOP/s", "200GFLOP/s", "3TFLOP/s"});
  device += key("rate", "{float32: " + rate + ", float16: " + rate + "}");
  machine.has_bandwidth = memories != Memories::one || draws.one_in(2);
  device += key("memory", memory_of_device(draws, memories, machine));
  if (memories == Memories::of_platform) device += key("threads", draws.one_of({"1", "5", "24"}));
  if (draws.one_in(3)) device += key("idle", "20W") + key("busy", draws.one_of({"250W", "20W"}));
  if (draws.one_in(4)) device += key("launch_overhead", "2us");
  if (draws.one_in(6)) device += key("efficiency", "60%");
  if (draws.one_in(6)) device += key("roofline", "{compute: 0.5, memory: 0.7}");
  machine.is_fitted = machine.has_bandwidth && draws.one_in(6);
  if (machine.is_fitted) device += key("units", "40") + key("cache", "4MB");
  return device + "}";
}

std::string host_text(Draws& draws, Memories memories) {
  std::string host = "host: {capacity: unlimited";
  if (memories == Memories::of_platform) {
    host += key("read", "2GB/s") + key("write", "600MB/s");
    return "dram: {capacity: unlimited" +
           key("by_threads",
               "[{threads: 1, read: 9GB/s, write: 5GB/s}, "
               "{threads: 24, read: 107GB/s, write: 79GB/s}]") +
           "}, " + host + "}";
  }
  if (draws.one_in(5)) host += key("bandwidth", draws.one_of({"1GB/s", "20GB/s"}));
  if (draws.one_in(6)) host += key("read", "700MB/s");
  return host + "}";
}

std::vector<std::string> names_of(Form form, int devices) {
  std::vector<std::string> names;
  const bool grouped = form == Form::group_each || form == Form::group_of_all;
  for (int d = 0; d < devices; ++d) {
    const std::string number = devices > 1 ? std::to_string(d) : "";
    if (form == Form::group_each)
      names.push_back("node" + number + "_gpu");
    else
      names.push_back((grouped ? "node_gpu" : "gpu") + number);
  }
  return names;
}

/// Returns links between neighbouring devices. Some pairs of neighbours get no link. Then their route leads through the
/// host.
std::string pair_links(Draws& draws, const std::vector<std::string>& names) {
  std::string links;
  for (std::size_t d = 0; d + 1 < names.size(); ++d)
    if (!draws.one_in(4))
      links += ", pair" + std::to_string(d) + ": " +
               link(draws, names[d] + ", " + names[d + 1], {"2GB/s", "100MB/s"});
  return links;
}

std::string host_links(Draws& draws, Form form, Memories memories) {
  const std::vector<std::string> rates = {"1GB/s", "50MB/s", "200MB/s", "12.5GB/s"};
  const std::string end = memories == Memories::of_platform ? "dram" : "gpu";
  std::string links;
  if (form == Form::behind_switch)
    links =
        "host: " + link(draws, "host, hub", rates) + ", fan: " + link(draws, "hub, " + end, rates);
  else
    links = "host: " + link(draws, "host, " + end, rates);
  if (memories == Memories::own_second)
    links += ", far: " + link(draws, "gpu, gpu_ddr", {"10GB/s", "300MB/s"});
  return links;
}

}  // namespace

DrawnMachine random_machine(Draws& draws, int devices) {
  DrawnMachine machine;
  static const std::vector<Form> forms = {
      Form::side_by_side,  Form::side_by_side, Form::side_by_side, Form::side_by_side,
      Form::behind_switch, Form::group_each,   Form::group_of_all};
  const Form form = forms[draws.below(static_cast<std::uint32_t>(forms.size()))];
  Memories memories = Memories::one;
  if (draws.one_in(8)) memories = Memories::own_second;
  if (memories == Memories::one && devices == 1 && form == Form::side_by_side && draws.one_in(10))
    memories = Memories::of_platform;
  machine.has_own_second = memories == Memories::own_second;
  machine.has_second = memories != Memories::one;
  machine.devices = names_of(form, devices);
  const int each = form == Form::group_each ? 1 : devices;
  const std::string device = "devices: {gpu: " + device_text(draws, memories, machine, each) + "}";
  const std::string host = "memories: {" + host_text(draws, memories) + "}";
  const std::string to_host = host_links(draws, form, memories);
  std::vector<std::string> inner = machine.devices;
  if (form == Form::group_of_all) inner = names_of(Form::side_by_side, devices);
  const std::string pairs = pair_links(draws, inner);
  std::string text = "platform:\n  format: sluice-platform/1\n  name: random\n";
  if (form == Form::group_of_all)
    text += "  groups: {node: {" + device + ", " + host + ", links: {" + to_host + pairs + "}}}\n";
  else if (form == Form::group_each)
    text += "  groups: {node: {count: " + std::to_string(devices) + ", " + device + ", links: {" +
            to_host + "}}}\n  " + host + "\n" +
            (pairs.empty() ? "" : "  links: {" + pairs.substr(2) + "}\n");
  else
    text += "  " + device + "\n  " + host + "\n" +
            (form == Form::behind_switch ? "  switches: [hub]\n" : "") + "  links: {" + to_host +
            pairs + "}\n";
  machine.text = text;
  return machine;
}

}  // namespace sluice::test
