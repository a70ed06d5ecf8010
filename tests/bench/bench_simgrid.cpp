// The two workloads of workload.hpp, written directly for SimGrid in the usual way. There is one actor per device.
// Computations are executions on SimGrid's hosts, actors communicate by mailboxes, and links have a latency. run.py
// compares Sluice's engine with this program.
//
//   bench_simgrid pipeline P M gpipe|1f1b [--plain]
//   bench_simgrid offload N I
//
// Prints one line of JSON. run_s is only the event loop. build_s is the time before the event loop.
#include <sys/resource.h>
#include <unistd.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "workload.hpp"

namespace sluice::bench {
namespace {

namespace sg = simgrid::s4u;

double clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr double flops_per_second = 1e9;

void compute(int stage, int micro_batch, bool backward, bool hashed) {
  sg::this_actor::execute(compute_seconds(stage, micro_batch, backward, hashed) * flops_per_second);
}

void connect(sg::NetZone* zone, const std::string& name, const sg::Host* from, const sg::Host* to) {
  auto* link = zone->create_link(name, link_bandwidth)->set_latency(link_latency_s)->seal();
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                  {sg::LinkInRoute(link)}, false);
}

void send(sg::Mailbox* mailbox) {
  static int token;
  mailbox->put_init(&token, transfer_bytes)->detach();
}

/// Runs the steps of one stage, which receives from one neighbour, computes, and sends to the other neighbour.
void run_stage(const Pipeline& p, int stage, double& makespan) {
  const auto mailbox = [](const char* direction, int s) {
    return sg::Mailbox::by_name(direction + std::to_string(s));
  };
  auto* forth = mailbox("forth", stage);
  auto* back = mailbox("back", stage);
  for (auto* own : {forth, back}) own->set_receiver(sg::Actor::self());
  const bool first = stage == 0, last = stage + 1 == p.stages;
  auto* next = last ? nullptr : mailbox("forth", stage + 1);
  auto* previous = first ? nullptr : mailbox("back", stage - 1);
  for (const Step& step : order_of_stage(p, stage)) {
    if (!step.backward && !first) forth->get<int>();
    if (step.backward && !last) back->get<int>();
    compute(stage, step.micro_batch, step.backward, p.hashed);
    if (auto* to = step.backward ? previous : next) send(to);
  }
  makespan = std::max(makespan, sg::Engine::get_clock());
}

void build_pipeline(sg::NetZone* zone, const Pipeline& p, double& makespan) {
  std::vector<sg::Host*> hosts;
  for (int s = 0; s < p.stages; ++s)
    hosts.push_back(zone->create_host("device" + std::to_string(s), flops_per_second)->seal());
  for (std::size_t s = 0; s + 1 < hosts.size(); ++s) {
    connect(zone, "forth" + std::to_string(s), hosts[s], hosts[s + 1]);
    connect(zone, "back" + std::to_string(s), hosts[s + 1], hosts[s]);
  }
  for (int s = 0; s < p.stages; ++s)
    sg::Actor::create("stage" + std::to_string(s), hosts[static_cast<std::size_t>(s)],
                      [p, s, &makespan] { run_stage(p, s, makespan); });
}

/// The numbers of layers and iterations, and semaphores by which the three actors of the chain wait for each other.
struct Chain {
  int layers, iterations;
  /// The count of this semaphore is the number of results that can be saved now.
  sg::SemaphorePtr computed = sg::Semaphore::create(0);
  sg::SemaphorePtr saved = sg::Semaphore::create(0);
  sg::SemaphorePtr window = sg::Semaphore::create(0);  ///< its count is the number of loads that may begin
  sg::SemaphorePtr loaded = sg::Semaphore::create(0);
};

void run_compute(const Chain& chain, double& makespan) {
  constexpr int ahead = 2;
  for (int i = 0; i < chain.iterations; ++i) {
    for (int l = 0; l < chain.layers; ++l) {
      compute(l, i, false, true);
      chain.computed->release();
    }
    for (int w = 0; w < std::min(ahead, chain.layers); ++w) chain.window->release();
    for (int l = chain.layers - 1; l >= 0; --l) {
      chain.loaded->acquire();
      compute(l, i, true, true);
      if (l >= ahead) chain.window->release();
    }
  }
  makespan = sg::Engine::get_clock();
}

void build_offload(sg::NetZone* zone, const Chain& chain, double& makespan) {
  auto* gpu = zone->create_host("gpu", flops_per_second)->seal();
  auto* memory = zone->create_host("memory", flops_per_second)->seal();
  connect(zone, "d2h", gpu, memory);
  connect(zone, "h2d", memory, gpu);
  sg::Actor::create("compute", gpu, [chain, &makespan] { run_compute(chain, makespan); });
  sg::Actor::create("save", gpu, [chain, gpu, memory] {
    for (int i = 0; i < chain.iterations; ++i) {
      for (int l = 0; l < chain.layers; ++l) {
        chain.computed->acquire();
        sg::Comm::sendto(gpu, memory, transfer_bytes);
      }
      // The last layer's activation is needed first, and it is saved last. So loads wait until all activations are
      // saved.
      for (int l = 0; l < chain.layers; ++l) chain.saved->release();
    }
  });
  sg::Actor::create("load", memory, [chain, gpu, memory] {
    for (int k = 0; k < chain.iterations * chain.layers; ++k) {
      chain.saved->acquire();
      chain.window->acquire();
      sg::Comm::sendto(memory, gpu, transfer_bytes);
      chain.loaded->release();
    }
  });
}

long peak_rss_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int bench(const std::vector<std::string>& words) {
  const bool pipeline = words.size() >= 4 && words[0] == "pipeline";
  if (!pipeline && (words.size() != 3 || words[0] != "offload")) {
    std::fprintf(stderr,
                 "usage: bench_simgrid (pipeline P M gpipe|1f1b [--plain] | offload N I)\n");
    return 2;
  }
  const int first = std::atoi(words[1].c_str()), second = std::atoi(words[2].c_str());
  const double start = clock_s();
  sg::Engine engine("bench");
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
                              "surf/precision:1e-9"})
    sg::Engine::set_config(setting);
  auto* zone = sg::create_full_zone("machine");
  double makespan = 0;
  if (pipeline)
    build_pipeline(zone, {first, second, words[3] == "1f1b", words.back() != "--plain"}, makespan);
  else
    build_offload(zone, {first, second}, makespan);
  zone->seal();
  const double built = clock_s();
  engine.run();
  const double ran = clock_s();
  const long long ops = pipeline ? 2LL * second * (2LL * first - 1) : 4LL * first * second;
  std::printf(
      "{\"peer\":\"simgrid\",\"workload\":\"%s\",\"%s\":%d,\"%s\":%d,\"schedule\":\"%s\","
      "\"ops\":%lld,\"makespan_us\":%.6f,\"build_s\":%.6f,\"run_s\":%.6f,\"rss_kb\":%ld}\n",
      words[0].c_str(), pipeline ? "P" : "N", first, pipeline ? "M" : "I", second,
      pipeline ? words[3].c_str() : "", ops, makespan * 1e6, built - start, ran - built,
      peak_rss_kb());
  std::fflush(stdout);
  _exit(0);  // Skips SimGrid's clean-up, which would take time.
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  return sluice::bench::bench({words + 1, words + count});
}
