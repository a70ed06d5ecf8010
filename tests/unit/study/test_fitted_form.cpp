// Tests the form of the cost model `fitted`, which gives the seconds of a kernel from its sizes. Also tests the
// correction by residuals and the fit of the parameters. The expected numbers are computed by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "cost/fitted/document.hpp"
#include "document/load.hpp"
#include "study/operator_fit/train.hpp"

using namespace sluice;
using Catch::Matchers::Contains;

namespace {

/// Returns a data sheet with 4 units of 1 TFLOP/s each, and a memory of 1 TB/s.
Sheet sheet(double cache = 1e3, double watts = 0) {
  return {
      .name = "four", .units = 4, .rate = 4e12, .bandwidth = 1e12, .cache = cache, .watts = watts};
}

enum {
  launch,
  memory,
  cached,
  cache_used,
  again,
  resident,
  ragged,
  startup,
  unaligned,
  energy,
  large,
  medium,
  small,
  column
};

/// Returns parameters of the form. With them, a product computes in tiles of 128 x 128 at the full rate, the memory has
/// half of the bandwidth of the data sheet, and a launch takes 1 us.
std::vector<double> parameters() {
  std::vector<double> p(form_parameters().size(), 0);
  p[launch] = 1e-6;
  p[memory] = 0.5;
  p[cached] = 2;
  p[cache_used] = p[large] = 1;
  p[resident] = 1;
  p[medium] = p[small] = p[column] = 1e-6;
  return p;
}

/// Returns a kernel that moves no bytes.
Kernel of_sizes(double count, double rows, double columns, double depth) {
  Kernel kernel = product("linear", count, rows, columns, depth, 0);
  return kernel;
}

double seconds(const Kernel& kernel, const std::vector<double>& p, const Sheet& on = sheet()) {
  return sluice::seconds_of(kernel, on, p);
}

std::vector<Sample> samples_of(const std::vector<double>& p, double noise) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> power(4, 12), off(-noise, noise);
  std::vector<Sample> samples;
  for (int i = 0; i < 300; ++i) {
    const double rows = std::round(std::exp2(power(random))), columns = 64 * (1 + i % 40),
                 depth = 64 * (1 + i % 17);
    Sample sample{.kernel = product("linear", 1, rows, columns, depth, 4),
                  .configuration = std::to_string(i)};
    sample.seconds = sluice::seconds_of(sample.kernel, sheet(), p) * std::exp(off(random));
    sample.joules = 100 * sample.seconds + 1e-11 * sample.kernel.flop;
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

TEST_CASE(
    "a stream takes the seconds of its launch and of its bytes, which come from the cache if they fit") {
  Kernel stream{.of = "elementwise", .rows = 10, .columns = 10, .bytes = 1e9};
  // A cache of 1 kB holds nearly none of the 1e9 B of the stream. So the stream takes 1 us + 1e9 B / (0.5 x 1 TB/s).
  CHECK(seconds(stream, parameters()) == Approx(1e-6 + 2e-3).epsilon(1e-12));
  // A cache of 1 PB holds all 1e9 B, and delivers them at 2 TB/s, twice the bandwidth of the data sheet.
  CHECK(seconds(stream, parameters(), sheet(1e15)) == Approx(1e-6 + 0.5e-3).epsilon(1e-12));
  // If the cache has exactly as many bytes as the stream, half of the bytes come from the cache. The stream takes 0.5
  // ms / 2 for this half, and 2 ms / 2 for the other half.
  CHECK(seconds(stream, parameters(), sheet(1e9)) == Approx(1e-6 + 1.25e-3).epsilon(1e-12));
}

TEST_CASE("the second read of a stream comes from the cache as long as the rows in use fit") {
  Kernel stream{.of = "softmax", .rows = 10, .columns = 10, .bytes = 1e9};
  std::vector<double> p = parameters();
  p[again] = 0.5;
  p[resident] = 2;  // 4 units x 2 rows x 0.1 GB = 0.8 GB are in use
  const double once = 1e-6 + 2e-3;
  // The stream reads half of its bytes a second time. With a cache of 1 kB, these bytes come from the memory again, at
  // half of 1 TB/s.
  CHECK(seconds(stream, p) == Approx(once + 1e-3).epsilon(1e-12));
  // Now the cache is as large as the rows in use. So half of the second read comes from the cache, at 2 TB/s. The
  // stream has 1 / 0.8 = 1.25 times as many bytes as the cache. So the share `hit` of the first read comes from the
  // cache.
  const double hit = 1 / (1 + std::pow(1.25, 4));
  CHECK(seconds(stream, p, sheet(8e8)) ==
        Approx(1e-6 + hit * 0.5e-3 + (1 - hit) * 2e-3 + 0.125e-3 + 0.5e-3).epsilon(1e-9));
  // Now twice as many rows are in use, but a row has half as many bytes. The bytes in use are the same, so the seconds
  // are the same.
  stream.rows = 20;
  p[resident] = 4;
  CHECK(seconds(stream, p, sheet(8e8)) ==
        Approx(1e-6 + hit * 0.5e-3 + (1 - hit) * 2e-3 + 0.125e-3 + 0.5e-3).epsilon(1e-9));
}

TEST_CASE("bytes in a slower memory take longer, except the bytes that are in the cache") {
  const Kernel stream{.of = "elementwise", .rows = 10, .columns = 10, .bytes = 1e9};
  Sheet slow = sheet();
  slow.slowness = 5;
  CHECK(seconds(stream, parameters(), slow) == Approx(1e-6 + 5 * 2e-3).epsilon(1e-12));
  slow.cache = 1e15;
  CHECK(seconds(stream, parameters(), slow) == Approx(1e-6 + 0.5e-3).epsilon(1e-12));
}

TEST_CASE("a product whose result has a single column takes tiles of 128 x 1") {
  std::vector<double> p = parameters();
  // Each of 4 products of 128 x 1 with depth 9 takes the time of a whole tile of 128 x 128. The 4 units compute the 4
  // tiles at the same time, in one wave.
  CHECK(seconds(of_sizes(4, 128, 1, 9), p) == Approx(1e-6 + 2. * 128 * 128 * 9 / 1e12));
  p[column] = 0.5;  // now tiles of 128 x 1 have half of the full rate, and are faster here
  CHECK(seconds(of_sizes(4, 128, 1, 9), p) == Approx(1e-6 + 2. * 128 * 9 / 0.5e12));
}

TEST_CASE(
    "a product takes the full waves of tiles over the units, and a share of the wave that is not full") {
  std::vector<double> p = parameters();
  // `tile` is the seconds of a tile on one unit.
  const double tile = 2. * 128 * 128 * 64 / 1e12;
  // On 4 units, 4 tiles fill one wave.
  CHECK(seconds(of_sizes(1, 256, 256, 64), p) == Approx(1e-6 + tile));
  CHECK(seconds(of_sizes(1, 640, 128, 64), p) == Approx(1e-6 + 1.25 * tile));  // 5 tiles
  p[ragged] = 0.5;  // the second wave is a quarter full, and counts as 0.25 + 0.5 x 0.75
  CHECK(seconds(of_sizes(1, 640, 128, 64), p) == Approx(1e-6 + 1.625 * tile));
  // If each of 5 products has one tile, there are 5 tiles, too.
  CHECK(seconds(of_sizes(5, 128, 128, 64), p) == Approx(1e-6 + 1.625 * tile));
  // 513 rows need 5 tiles, too, of which the last has a single row.
  CHECK(seconds(of_sizes(1, 513, 128, 64), p) == Approx(1e-6 + 1.625 * tile));
  p[startup] = 32;  // each tile takes 1 + 32 / 64 = 1.5 times as long as `tile`
  CHECK(seconds(of_sizes(1, 256, 256, 64), p) == Approx(1e-6 + 1.5 * tile));
  p[unaligned] = 0.2;
  CHECK(seconds(of_sizes(1, 256, 255, 64), p) == Approx(1e-6 + 1.8 * tile));
}

TEST_CASE("a deep product of few tiles is split over the units") {
  // A tile of depth 256 is split into 4 parts of depth 64, one for each of the 4 units. So it takes a quarter of the
  // seconds. It is not split into 8 parts, whose depth would be only 32. The partial sums of the 4 parts have 4 x 128 x
  // 128 elements of 8 B, which move at 2 TB/s.
  const double tile = 2. * 128 * 128 * 64 / 1e12, sums = 8. * 4 * 128 * 128 / 2e12;
  std::vector<double> p = parameters();
  p[ragged] = 1;  // now a wave that is not full takes as long as a full wave
  CHECK(seconds(of_sizes(1, 128, 128, 256), p) == Approx(1e-6 + tile + sums));
}

TEST_CASE("the watts of a device limit its FLOP/s") {
  std::vector<double> p = parameters();
  p[energy] = 1e-11;
  const Kernel kernel = of_sizes(1, 256, 256, 64);
  // The 8,388,608 FLOP need 10 pJ each. A device of 20 W needs 4.19 us for this energy. At 4 TFLOP/s, the FLOP would
  // take only 2.10 us, as they do on a device of 200 W.
  CHECK(seconds(kernel, p, sheet(1e3, 20)) == Approx(1e-6 + 8388608 * 1e-11 / 20));
  CHECK(seconds(kernel, p, sheet(1e3, 200)) == Approx(1e-6 + 8388608 / 4e12));
}

namespace {

/// Returns the sum of the forces with which weighted numbers pull at `middle`. The force of a number is proportional to
/// its weight. It also grows with the distance of the number from `middle`, but hardly beyond a distance of 0.05. The
/// robust mean of the numbers is the `middle` for which this sum is 0.
double pull(double middle, const std::vector<std::pair<double, double>>& numbers) {
  double sum = 0;
  for (const auto& [weight, number] : numbers)
    sum += weight * (number - middle) / std::hypot(1, (number - middle) / 0.05);
  return sum;
}

}  // namespace

TEST_CASE(
    "the correction is a robust mean of the residuals of the nearest points, whose weights fall with the distance") {
  Surface surface;
  const Place here = of_sizes(1, 100, 100, 100).place();
  CHECK(surface.correction(here) == 1);
  // Besides the measured residuals, the form itself counts as a residual of 0 with the weight 0.05. So if one small
  // residual of weight 1 was measured, the mean is this residual divided by 1.05.
  surface.left = {{here, 0.01}};
  CHECK(std::log(surface.correction(here)) == Approx(0.01 / 1.05).epsilon(2e-3));
  surface.left = {{here, 0.3}};
  CHECK(std::abs(pull(std::log(surface.correction(here)), {{1, 0.3}, {0.05, 0}})) < 1e-5);
  // A product with e = 2.718… times as many rows as the measured product is at distance 1 from it. For this product,
  // the measured residual has the weight exp(-2).
  Place there = here;
  there[1] += 1;
  surface.left = {{here, 0.03}};
  CHECK(std::abs(pull(std::log(surface.correction(there)), {{std::exp(-2.0), 0.03}, {0.05, 0}})) <
        1e-5);
  there[1] += 9;
  // Far from all measured points, the weights of the measured residuals are almost 0. So the mean is almost the
  // residual of the form itself, which is 0, and nothing is corrected.
  CHECK(surface.correction(there) == Approx(1));
  // If there are nine points, only the nearest eight points count.
  surface.left.assign(8, {here, 0.02});
  surface.left.push_back({there, 100.0});
  CHECK(std::abs(pull(std::log(surface.correction(here)), {{8, 0.02}, {0.05, 0}})) < 1e-5);
}

TEST_CASE("a single outlier among equal points has little effect") {
  Surface surface;
  const Place here = of_sizes(1, 100, 100, 100).place();
  surface.left.assign(7, {here, 0.2});
  surface.left.push_back({here, 2.0});  // the plain mean of all eight points would be 0.425
  CHECK(std::log(surface.correction(here)) == Approx(0.2).margin(0.01));
}

TEST_CASE("a fit finds the form that made the samples, and a second fit gives the same result") {
  std::vector<double> truth = parameters();
  truth[medium] = 0.6;
  truth[ragged] = 0.3;
  truth[startup] = 20;
  truth[small] = 0.3;
  const std::vector<Sample> samples = samples_of(truth, 0.02);
  const ClassFit fit = train("linear", DType::float32, samples, {sheet()}, {2, true});
  CHECK(fit.time_error.median < 0.03);
  CHECK(fit.time_error.count == 300);  // each half of 150 samples is predicted from the other half
  REQUIRE(fit.energy_error);
  CHECK(fit.energy_error->median < 0.03);
  CHECK(fit.covers(samples[5].kernel));
  CHECK_FALSE(fit.covers(product("linear", 1, 1e6, 64, 64, 4)));
  const ClassFit twice = train("linear", DType::float32, samples, {sheet()}, {2, true});
  CHECK(twice.seconds.parameters == fit.seconds.parameters);
  CHECK(twice.time_error.median == fit.time_error.median);
}

TEST_CASE(
    "each device is predicted from the other devices, and the errors are reported with the device's name") {
  std::vector<Sample> samples = samples_of(parameters(), 0.02), same = samples, twice = samples;
  for (Sample& sample : same) sample.sheet = 1;
  for (Sample& sample : twice) sample.sheet = 2, sample.seconds *= 2;
  samples.insert(samples.end(), same.begin(), same.end());
  samples.insert(samples.end(), twice.begin(), twice.end());
  std::vector<Sheet> sheets(3, sheet());
  for (std::size_t i = 0; i < 3; ++i) sheets[i].name = std::string(1, static_cast<char>('a' + i));
  const ClassFit fit = train("linear", DType::float32, samples, sheets, {1, false});
  REQUIRE(fit.device_errors.size() == 3);
  CHECK(fit.device_errors[2].first == "c");
  CHECK(fit.device_errors[2].second.count == 300);
  // Devices a and b have equal seconds, and device c takes twice as long. The prediction for device c comes from a and
  // b, so it is half of the seconds of c.
  CHECK(fit.device_errors[2].second.median == Approx(0.5).margin(0.03));
  REQUIRE(fit.device_error);
  CHECK(fit.device_error->count == 900);
  Fit written{.name = "three", .devices = sheets, .classes = {fit}};
  const std::string text = fit_text(written);
  CHECK(fit_text(read_fit(parse_text(text, "fit.yaml"))) == text);
  CHECK_THAT(text,
             Contains("- {device: \"c\", median: 0.5") || Contains("device: \"c\", median: 0.4"));
}

TEST_CASE("if one sample has no joules, joules are not fitted, and their error is not known") {
  std::vector<Sample> samples = samples_of(parameters(), 0.1);
  samples.resize(20);
  // Cross-validation fits each half of the samples separately. The sample without joules is in only one of the two
  // halves, but no half may be fitted to joules.
  samples[0].joules.reset();
  const ClassFit fit = train("linear", DType::float32, samples, {sheet()}, {4, true});
  CHECK(fit.time_error.count > 0);
  CHECK_FALSE(fit.joules);
  CHECK_FALSE(fit.energy_error);
}

TEST_CASE(
    "a fit that is written and read back is equal, and faults in its document are refused at their "
    "place") {
  std::vector<Sample> samples = samples_of(parameters(), 0.1);
  samples.resize(20);
  Fit fit{.name = "mine", .source = "a \"test\"", .devices = {sheet(1e6, 30)}};
  fit.classes.push_back(train("linear", DType::float32, samples, fit.devices, {1, true}));
  const std::string text = fit_text(fit);
  const Fit read = read_fit(parse_text(text, "fit.yaml"));
  CHECK(fit_text(read) == text);
  REQUIRE(read.find("linear", DType::float32));
  CHECK(read.find("linear", DType::float16) == nullptr);
  CHECK(read.saw(fit.devices.front()));
  CHECK_FALSE(read.saw(sheet(1e6) = {.units = 8, .rate = 4e12, .bandwidth = 1e12}));
  // The document rounds the ends of the measured range. The smallest and the largest sample must still be in this
  // range.
  const bool all_inside = std::all_of(samples.begin(), samples.end(), [&](const Sample& sample) {
    return read.classes[0].covers(sample.kernel);
  });
  CHECK(all_inside);
  // The fit that was read back gives the seconds of the original fit, up to the digits that the document has.
  const Kernel& kernel = samples[3].kernel;
  CHECK(read.classes[0].seconds_of(kernel, fit.devices[0]) ==
        Approx(fit.classes[0].seconds_of(kernel, fit.devices[0])).epsilon(2e-4));
  std::string broken = text;
  broken.replace(broken.find("left: |\n") + 8, 9, "      x 1");
  CHECK_THROWS_WITH(read_fit(parse_text(broken, "fit.yaml")),
                    Contains("line 1 of 'left'") && Contains("expected seven numbers"));
  broken = text;
  broken.replace(broken.find("large: ") + 7, 1, "0 #");
  CHECK_THROWS_WITH(read_fit(parse_text(broken, "fit.yaml")), Contains("'large'"));
}
