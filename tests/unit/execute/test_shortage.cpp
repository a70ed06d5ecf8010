// Tests the message with which a plan is refused. It says which memory is too small, and for which bytes this memory
// has no room.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"

namespace sluice {
namespace {

const std::string tables =
    "format: sluice-plan/1\nname x\nlink l bandwidth=1GB/s\nroute host>gpu links=l\n"
    "stream c kind=compute device=gpu\nstream d kind=copy device=gpu\npool host capacity=unlimited "
    "shared\n";

Infeasible refused(const std::string& rest) {
  try {
    check(plan_from_text(tables + rest, "p.plan"));
  } catch (const Infeasible& error) {
    return error;
  }
  throw InternalError("it fits");
}

TEST_CASE("the data about a shortage give the bytes that one action requests at once") {
  const Infeasible error = refused(
      "pool gpu capacity=100B\ntensor w class=weight bytes=80\ntensor x class=workspace bytes=30\n"
      "prologue:\n0F on=c kind=forward seconds=1 allocates=w@gpu,x@gpu uses=w@gpu,x@gpu\n");
  const Shortage& shortage = error.shortage;
  CHECK(shortage.pool == "gpu");
  CHECK(shortage.needed_bytes == 110);
  CHECK(shortage.available_bytes == 100);
  CHECK(shortage.by_class ==
        std::vector<std::pair<std::string, std::int64_t>>{{"weight", 80}, {"workspace", 30}});
  CHECK(shortage.waiters.empty());
}

TEST_CASE("the data about a shortage give the bytes that are in a memory from the start") {
  const Infeasible error = refused(
      "pool gpu capacity=100B\ntensor a class=kv_cache bytes=60 home=gpu\ntensor b class=kv_cache "
      "bytes=50 home=gpu\nprologue:\n0F on=c kind=forward seconds=1\n");
  CHECK(error.shortage.pool == "gpu");
  CHECK(error.shortage.needed_bytes == 110);
  CHECK(error.shortage.available_bytes == 100);
  CHECK(error.shortage.by_class ==
        std::vector<std::pair<std::string, std::int64_t>>{{"kv_cache", 110}});
}

TEST_CASE(
    "if a plan blocks for lack of memory, the data about the shortage say for what each action waits") {
  // The 80 B of tensor w arrive at 80 ns and stay. So there is no room for the 30 B of tensor x. The load of x waits
  // for memory, and 0F waits for this load.
  const Infeasible error = refused(
      "pool gpu capacity=100B\ntensor w class=weight bytes=80 home=host\ntensor x class=input "
      "bytes=30 home=host\nprologue:\n"
      "0LOAD on=d kind=load moves=w route=host>gpu bytes=80 allocates=w@gpu\n"
      "1LOAD on=d kind=load moves=x route=host>gpu bytes=30 allocates=x@gpu\n"
      "0F on=c kind=forward seconds=1 waits=1LOAD uses=w@gpu,x@gpu\n");
  const Shortage& shortage = error.shortage;
  CHECK(shortage.pool == "gpu");
  CHECK(shortage.needed_bytes == 110);
  CHECK(shortage.available_bytes == 100);
  CHECK(shortage.by_class ==
        std::vector<std::pair<std::string, std::int64_t>>{{"weight", 80}, {"input", 30}});
  REQUIRE(shortage.time_s);
  CHECK(*shortage.time_s == Approx(80e-9).epsilon(1e-12));
  REQUIRE(shortage.waiters.size() == 2);
  CHECK(shortage.waiters[0] == Shortage::Waiter{.stream = "c", .action = "0F", .awaits = "1LOAD"});
  CHECK(shortage.waiters[1] ==
        Shortage::Waiter{
            .stream = "d", .action = "1LOAD", .pool = "gpu", .bytes = 30, .tensors = {"x"}});
  CHECK(error.headline().find('\n') == std::string::npos);
  CHECK(error.headline().rfind("out of memory at 80 ns", 0) == 0);
  CHECK(error.headline().back() != ':');
}

}  // namespace
}  // namespace sluice
