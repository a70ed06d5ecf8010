// Tests of the function that splits a text at separators.
#include <catch2/catch.hpp>

#include "base/split.hpp"

namespace sluice {
namespace {

using Parts = std::vector<std::string_view>;

TEST_CASE("a text is split at each separator, and empty parts count", "[base]") {
  CHECK(split("a,b,c", ",") == Parts{"a", "b", "c"});
  CHECK(split("a", ",") == Parts{"a"});
  CHECK(split("", ",") == Parts{""});
  CHECK(split(",a,,", ",") == Parts{"", "a", "", ""});
  CHECK(split("node1 -- Input -- 0", " -- ") == Parts{"node1", "Input", "0"});
}

}  // namespace
}  // namespace sluice
