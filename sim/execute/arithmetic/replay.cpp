#include "execute/arithmetic/replay.hpp"

#include "execute/arithmetic/execution.hpp"

namespace sluice {

using arithmetic::Replay;

ReplayResult replay(const Plan& plan, const ReplayOptions& options) {
  return Replay(plan, nullptr, options).run();
}

ReplayResult replay(const Plan& plan, Sink& sink, const ReplayOptions& options) {
  return Replay(plan, &sink, options).run();
}

ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& each) {
  struct Each final : Sink {
    explicit Each(const std::function<void(const Executed&)>& function) : each_span(function) {}
    void span(const Span& span) override { each_span(span); }
    void memory(const MemoryEvent&) override {}
    const std::function<void(const Executed&)>& each_span;
  };
  Each sink(each);
  return replay(plan, sink);
}

}  // namespace sluice
