// Tests numbers of the document 'AlexNet on one card'. The card computes 61 GFLOP/s, and its link has 30 GB/s in each
// direction. The network has 200 times the states and FLOP of the table below. Four strategies of training add seconds
// to the forward and backward passes. The tests compute these seconds per sample.
#include <catch2/catch.hpp>
#include <cmath>

#include "fates/choices.hpp"

namespace sluice {
namespace {

/// Each row is a stage. The first number is the number of elements of its state. The second number is the sum of the
/// FLOP of all stages up to this stage.
constexpr double table[19][2] = {
    {150528, 0},        {279936, 67744512}, {279936, 68024448}, {64896, 68608512},
    {173056, 77261312}, {173056, 77434368}, {36864, 77766144},  {55296, 78761472},
    {55296, 78816768},  {55296, 79812096},  {55296, 79867392},  {36864, 80530944},
    {36864, 80567808},  {6400, 80625408},   {4096, 133054208},  {4096, 133058304},
    {4096, 166612736},  {4096, 166616832},  {1000, 174808832}};

Chain alexnet_x200() {
  Chain chain;
  double before = 0;
  for (const auto& [elements, flop] : table) {
    ChainStage stage;
    stage.forward_s = stage.backward_s = (flop - before) * 200 / 61e9;
    stage.output.bytes = static_cast<std::int64_t>(elements * 4 * 200);
    stage.output.save_s = stage.output.load_s = elements * 4 * 200 / 30e9;
    before = flop;
    chain.stages.push_back(stage);
  }
  return chain;
}

std::vector<Fate> from_to(std::vector<Fate> fates, std::size_t first, std::size_t last, Fate fate) {
  for (std::size_t s = first; s <= last; ++s) fates[s - 1] = fate;
  return fates;
}

double beyond_compute(const std::vector<Fate>& fates) {
  const Chain chain = alexnet_x200();
  return serial_seconds(chain, tape_of(chain, fates)) - 2 * 174808832 * 200.0 / 61e9;
}

const std::vector<Fate> all_kept(19, Fate::keep);

TEST_CASE(
    "AlexNet on one card, training: recomputing stages 2 to 14 costs 264.346 ms per sample, "
    "237.911 s for 900 samples") {
  // Stages 2 to 14 run again. They have 80625408 x 200 FLOP, and the card computes 61e9 FLOP/s.
  const double seconds = beyond_compute(from_to(all_kept, 2, 14, Fate::recompute));
  CHECK(seconds == Approx(80625408 * 200.0 / 61e9).epsilon(1e-12));
  CHECK(900 * seconds == Approx(237.911).margin(5e-4));
}

TEST_CASE(
    "AlexNet on one card, training: saving and reloading stages 1 to 14 costs 77.844 ms per "
    "sample, 70.060 s for 900 samples") {
  // 1459584 elements of 4 x 200 B each are saved and then loaded again, at 30e9 B/s.
  const double seconds = beyond_compute(from_to(all_kept, 1, 14, Fate::offload));
  CHECK(seconds == Approx(2 * 1459584 * 800.0 / 30e9).epsilon(1e-12));
  CHECK(900 * seconds == Approx(70.060).margin(5e-4));
}

TEST_CASE(
    "AlexNet on one card, training: offloading stages 1 to 5 and recomputing stages 6 to 14 "
    "costs 61.6086 ms per sample") {
  // The outputs of stages 1 to 5 are saved and loaded: 2 x 948352 elements x 800 B / 30e9 = 2 x 25.2894 ms.
  // Stages 6 to 14 run again: (80625408 - 77261312) FLOP x 200 / 61e9 = 11.0298 ms.
  const std::vector<Fate> combined =
      from_to(from_to(all_kept, 1, 5, Fate::offload), 6, 14, Fate::recompute);
  CHECK(beyond_compute(combined) ==
        Approx(2 * 948352 * 800.0 / 30e9 + 3364096 * 200.0 / 61e9).epsilon(1e-12));
  CHECK(beyond_compute(combined) * 1e3 == Approx(61.6086).margin(5e-5));
}

TEST_CASE(
    "AlexNet on one card, training: the output of each Conv is offloaded, and the stages between "
    "Convs are recomputed") {
  // Only the outputs of stages 2, 5, 8, 10 and 12 are saved and loaded again:
  // 279936 + 173056 + 55296 + 55296 + 36864 = 600448 elements.
  // Stages 3, 4, 6, 7, 9, 11, 13 and 14 run a second time: (68608512 - 67744512) + (77766144 - 77261312) + (78816768 -
  // 78761472) + (79867392 - 79812096) + (80625408 - 80530944) = 1573888 FLOP.
  std::vector<Fate> fates = all_kept;
  for (const std::size_t s : {2u, 5u, 8u, 10u, 12u}) fates[s - 1] = Fate::offload;
  for (const std::size_t s : {3u, 4u, 6u, 7u, 9u, 11u, 13u, 14u}) fates[s - 1] = Fate::recompute;
  const double seconds = 2 * 600448 * 800.0 / 30e9 + 1573888 * 200.0 / 61e9;
  CHECK(std::abs(beyond_compute(fates) / seconds - 1) <= 1e-9);
  CHECK(900 * seconds == Approx(33.465763672131146).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
