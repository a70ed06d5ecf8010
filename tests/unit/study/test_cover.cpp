// Tests the share of the whole model's seconds that is explained by the measured operators. The expected shares are
// computed by hand.
#include <catch2/catch.hpp>

#include "study/cover/cover.hpp"
#include "support/bad_input.hpp"
#include "support/models.hpp"

using namespace sluice;
using sluice::test::error_of;

namespace {

const std::string head =
    "# format: sluice-profile/1\n"
    "operator,config,inputs,batch,cache,level,pass,occurrences,bytes,seconds_median,joules_mean\n";
const std::string dense = "dense,dense bias=false features=10 sparsity=0,";

Profile profile(const std::string& rows) {
  return parse_profile(head + rows, "p.csv");
}

/// Returns a model with two equal products, two relus, and a softmax.
Model model() {
  return sluice::test::model_of(
      "- {type: input, name: x, shape: [10]}\n"
      "- {type: dense, name: a, features: 10, bias: false}\n"
      "- {type: relu, name: b}\n"
      "- {type: dense, name: c, features: 10, bias: false}\n"
      "- {type: relu, name: d}\n- {type: softmax, name: e}\n");
}

}  // namespace

TEST_CASE(
    "the seconds of operators are multiplied by their occurrences, summed, and compared with the whole model") {
  const Profile read = profile(dense +
                               "2x10,2,,,,,,0.003,0.5\n"
                               "net,all,,2,,whole,,,,0.010,2\n"
                               "block,b,2x10,2,,inner,,,,0.9,9\n");
  const Cover cover = cover_of(model(), read, {.samples = 2});
  CHECK(cover.operators == 3);  // dense, relu, softmax
  CHECK(cover.measured == 1);
  CHECK(cover.attributed_s == 0.006);
  CHECK(*cover.share_s() == Approx(0.6));
  CHECK(cover.attributed_j == 1);
  CHECK(*cover.share_j() == Approx(0.5));
  REQUIRE(cover.missing.size() == 2);
  // The seconds of a missing operator are estimated from its bytes. For 2 samples, each of the two dense layers has 20
  // inputs, 20 outputs and 100 weights of 4 B, which are 560 B. Both together take 6 ms for 1120 B. At this rate, each
  // of the two relus takes 0.86 ms for its 160 B.
  CHECK(cover.missing[0].occurrences == 2);
  CHECK(cover.missing[0].weight == 320);
  CHECK(cover.missing[0].expected_s == Approx(0.006 * 320 / 1120));
  CHECK_FALSE(cover.needed);  // all operators take 6 + 1.71 + 0.86 ms, less than 90 % of 10 ms
  const Cover low = cover_of(model(), read, {.samples = 2, .target = 0.75});
  CHECK(*low.needed == 1);  // with the relu, 6 + 1.71 ms are more than 75 % of 10 ms
  CHECK(*cover_of(model(), read, {.samples = 2, .target = 0.5}).needed == 0);
}

TEST_CASE(
    "the seconds of the whole model may be given, and without them the measured share of the model is "
    "not known") {
  const Profile read = profile(dense + "2x10,2,,,,,,0.003,\n");
  CHECK_FALSE(cover_of(model(), read, {.samples = 2}).share_s());
  CHECK(*cover_of(model(), read, {.samples = 2, .whole_s = 0.012}).share_s() == 0.5);
  CHECK_FALSE(cover_of(model(), read, {.samples = 2, .whole_s = 0.012}).share_j());
  CHECK(cover_of(model(), read, {.samples = 3}).measured == 0);
  const Profile wholes = profile("net,a,,2,hot,whole,,,,1,\nnet,a,,2,cold,whole,,,,2,\n");
  CHECK(error_of([&] {
          cover_of(model(), wholes, {.samples = 2});
        }).find("has several rows of the whole model") != std::string::npos);
}

TEST_CASE("a whole model that was measured in several passes has one row per pass") {
  const CoverRequest training = {.samples = 2, .passes = {"forward", "backward"}};
  const std::string forward = "net,a,,2,hot,whole,,,,1,\n";
  const Profile twice = profile(forward + "net,a,,2,cold,whole,,,,2,\n");
  CHECK(error_of([&] {
          cover_of(model(), twice, training);
        }).find("several rows of the whole model for one pass") != std::string::npos);
  CHECK_FALSE(cover_of(model(), profile(forward), training).whole_s);
  CHECK(*cover_of(model(), profile(forward + "net,a,,2,hot,whole,backward,,,2,\n"), training)
             .whole_s == 3);
}

TEST_CASE("without a model, the rows of a profile are summed with their occurrences") {
  const Profile read = profile(
      "x,1,,2,,,,3,100,0.001,\ny,2,,2,,,,1,50,,\nz,3,,2,,,backward,5,,9,\n"
      "net,all,,2,,whole,,,,0.004,\n");
  const Cover cover = cover_of_rows(read, {.samples = 2});
  CHECK(cover.operators == 2);
  CHECK(cover.attributed_s == 0.003);
  CHECK(*cover.share_s() == Approx(0.75));
  REQUIRE(cover.missing.size() == 1);
  CHECK(cover.missing[0].expected_s == Approx(0.003 * 50 / 300));
  const Profile two = profile("x,1,,2,hot,,,,,1,\nx,1,,2,cold,,,,,1,\n");
  CHECK(error_of([&] { cover_of_rows(two, {.samples = 2}); }).find("cannot be added up") !=
        std::string::npos);
}

TEST_CASE("a note reports rows for other batches or element types") {
  const Profile read = profile(dense + "2x10,2,,,,,,0.003,\nrelu,relu,8x10,8,,,,,,0.001,\n");
  const Cover cover = cover_of(model(), read, {.samples = 8});
  CHECK(cover.measured == 1);
  CHECK(cover.elsewhere == std::map<std::string, std::size_t>{{"for 2 samples", 1}});
  const Cover rows = cover_of_rows(read, {.samples = 8, .dtype = ""});
  CHECK(rows.operators == 1);
  CHECK(rows.attributed_s == 0.001);
  CHECK(rows.elsewhere == std::map<std::string, std::size_t>{{"for 2 samples", 1}});

  const std::string typed =
      "# format: sluice-profile/1\noperator,config,inputs,batch,dtype,level,seconds_median\n";
  const std::string half = typed +
                           "dense,dense bias=false features=10 sparsity=0,2x10,2,float16,,0.003\n"
                           "net,all,,2,float16,whole,0.010\n";
  const Cover other = cover_of(model(), parse_profile(half, "p.csv"), {.samples = 2});
  CHECK(other.measured == 0);
  CHECK_FALSE(other.whole_s);  // the row of the whole model has another element type
  CHECK(other.elsewhere == std::map<std::string, std::size_t>{{"in float16", 1}});
  const Cover asked =
      cover_of(model(), parse_profile(half, "p.csv"), {.samples = 2, .dtype = "float16"});
  CHECK(*asked.share_s() == Approx(0.6));
  CHECK(asked.elsewhere.empty());
  CHECK(cover_of_rows(parse_profile(half, "p.csv"), {.samples = 2}).operators == 0);
  CHECK(error_of([&] {
          cover_of_rows(parse_profile(half + "relu,relu,2x10,2,float32,,0.001\n", "p.csv"),
                        {.samples = 2, .dtype = ""});
        }).find("methods or element types") != std::string::npos);
}
