// Reads a trace. Prints how long each stream was busy, and its last action. This command makes the
// trace:
//     sluice run alexnet_resident -o trace.h5
#include <cstdio>
#include <vector>

#include "trace/hdf5/reader.hpp"

int main(int argc, char** argv) {
  const sluice::TraceReader trace(argc > 1 ? argv[1] : "trace.h5");
  const sluice::Labels& labels = trace.labels();
  std::vector<double> busy_s(labels.streams.size());
  std::vector<std::uint32_t> last(labels.streams.size());
  trace.spans([&](const std::vector<sluice::Span>& block) {
    for (const sluice::Span& span : block) {
      const std::uint32_t stream = labels.actions[span.action].stream;
      busy_s[stream] += span.end - span.start;
      last[stream] = span.action;
    }
  });
  for (std::size_t stream = 0; stream < busy_s.size(); ++stream)
    std::printf("%-13s busy %.3f ms, last %s\n", labels.streams[stream].name.c_str(),
                1e3 * busy_s[stream], labels.actions[last[stream]].name.c_str());
}
