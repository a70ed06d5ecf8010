#include "cost/fitted/form.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

enum Place : std::size_t {
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
static_assert(resident == resident_parameter && energy == energy_parameter && large == first_share);

/// A tile is the part of the result that one unit computes at a time. The form is the formula for the seconds of a
/// kernel. `share` is the index of one of the parameters of the form (form_parameters()). The parameter is the share of
/// a unit's rate that tiles of this size reach.
struct Tile {
  double rows, columns;
  Place share;
};
constexpr std::array<Tile, 4> tiles = {Tile{128, 128, large}, Tile{64, 64, medium},
                                       Tile{16, 64, small}, Tile{128, 1, column}};
/// The numbers of parts into which the depth of a product may be split. The parts are computed side by side.
constexpr std::array<double, 4> splits = {1, 2, 4, 8};
/// The exponent of a norm. Computation and memory overlap: if they take a and b seconds, the product takes (a^overlap +
/// b^overlap)^(1/overlap) seconds. This norm is close to the longer of the two times.
constexpr double overlap = 4;

/// Returns the seconds of a kernel's bytes. Bytes that fit into the cache move faster than through memory.
double memory_seconds(double bytes, const Sheet& sheet, const std::vector<double>& p) {
  const double beyond = std::log(std::max(bytes, 1.0) / (sheet.cache * p[cache_used]));
  const double missing = 1 / (1 + std::exp(std::clamp(-4 * beyond, -50.0, 50.0)));
  return bytes / sheet.bandwidth *
         ((1 - missing) / p[cached] + missing * sheet.slowness / p[memory]);
}

/// Returns the seconds for the bytes of a stream that are read a second time. At any time, each unit works on rows of
/// its own. If the rows of all units fit into the cache, the bytes come from the cache.
double again_seconds(const Kernel& kernel, const Sheet& sheet, const std::vector<double>& p) {
  const double worked_on = sheet.units * p[resident] * kernel.bytes / kernel.rows;
  const double missing = 1 / (1 + std::pow(std::min(sheet.cache / worked_on, 1e3), 4));
  return kernel.bytes * p[again] / sheet.bandwidth *
         ((1 - missing) / p[cached] + missing * sheet.slowness / p[memory]);
}

/// Returns the seconds of a product with the given split and tile. The units compute the tiles in waves: in each
/// wave, each unit computes one tile.
double tiled_seconds(const Kernel& kernel, const Tile& tile, double split, const Sheet& sheet,
                     const std::vector<double>& p) {
  const double blocks = kernel.count * std::ceil(kernel.rows / tile.rows) *
                        std::ceil(kernel.columns / tile.columns) * split;
  const double waves = blocks / sheet.units;
  const double counted = waves + p[ragged] * (std::ceil(waves) - waves);
  const double flop = 2 * tile.rows * tile.columns * (kernel.depth / split + p[startup]);
  const double seconds = counted * flop / (sheet.rate / sheet.units * p[tile.share]);
  const double partial = split > 1 ? 8 * split * kernel.count * kernel.rows * kernel.columns : 0;
  return seconds + partial / (sheet.bandwidth * p[cached]);
}

bool is_aligned(const Kernel& kernel) {
  return std::fmod(kernel.columns, 4) == 0 && std::fmod(kernel.depth, 4) == 0;
}

/// Returns the seconds of the product with the fastest tile and split. Libraries choose their
/// fastest kernel, too.
double product_seconds(const Kernel& kernel, const Sheet& sheet, const std::vector<double>& p) {
  double least = 0;
  for (const Tile& tile : tiles)
    for (const double split : splits) {
      if (split > 1 && kernel.depth / split < 64) break;
      const double seconds = tiled_seconds(kernel, tile, split, sheet, p);
      if (least == 0 || seconds < least) least = seconds;
    }
  return is_aligned(kernel) ? least : least * (1 + p[unaligned]);
}

}  // namespace

const std::vector<FormParameter>& form_parameters() {
  constexpr FormPart products = FormPart::products, streams = FormPart::streams;
  static const std::vector<FormParameter> parameters = {
      {"launch", "the seconds that each launch of a kernel adds", 5e-6, 1e-8, 1e-3, FormPart::all},
      {"memory", "the share of the memory bandwidth that kernels reach", 0.8, 0.02, 1.5,
       FormPart::all, /*divides=*/true, /*firmness=*/0.3},
      {"cached", "the bandwidth of the cache, as a multiple of the memory bandwidth", 2, 0.05, 50,
       FormPart::all, /*divides=*/true},
      {"cache_used", "the share of the cache that the bytes of a kernel may fill", 0.7, 0.01, 8,
       FormPart::all, /*divides=*/true},
      {"again", "the share of a stream's bytes that are read a second time", 0.2, 1e-3, 4, streams},
      {"resident", "the number of rows of a stream on which a unit works at the same time", 8, 0.01,
       1e3, streams, /*divides=*/true},
      {"ragged",
       "the seconds that an unused unit adds in the last wave, as a share of the seconds of a tile",
       0.5, 1e-3, 1, products},
      {"startup",
       "a depth. The start and end of a tile take as long as a tile of a product with this depth",
       50, 0.1, 2000, products},
      {"unaligned",
       "the share of time that is added if the columns or the depth are not a multiple of 4", 0.05,
       1e-3, 4, products},
      {"energy",
       "joules per FLOP. The data sheet's watts divided by this number limit the FLOP/s. 0 means no limit",
       0, 0, 0, products},
      {"large", "the share of a unit's rate that tiles of 128 x 128 reach", 0.8, 0.02, 1.1,
       products, /*divides=*/true},
      {"medium", "the share of a unit's rate that tiles of 64 x 64 reach", 0.7, 0.02, 1.1, products,
       /*divides=*/true},
      {"small", "the share of a unit's rate that tiles of 16 x 64 reach", 0.5, 0.02, 1.1, products,
       /*divides=*/true},
      {"column", "the share of a unit's rate that tiles of 128 x 1 reach", 0.1, 1e-3, 1.1, products,
       /*divides=*/true}};
  return parameters;
}

double seconds_of(const Kernel& kernel, const Sheet& sheet, const std::vector<double>& p) {
  const double bytes = memory_seconds(kernel.bytes, sheet, p);
  if (!kernel.is_product()) return p[launch] + bytes + again_seconds(kernel, sheet, p);
  const double compute = product_seconds(kernel, sheet, p);
  const double longest = std::max(compute, bytes);
  const double both =
      longest * std::pow(std::pow(compute / longest, overlap) + std::pow(bytes / longest, overlap),
                         1 / overlap);
  const double powered = sheet.watts > 0 ? kernel.flop * p[energy] / sheet.watts : 0;
  return p[launch] + std::max(both, powered);
}

bool is_bound_by_memory(const Kernel& kernel, const Sheet& sheet, const std::vector<double>& p) {
  return !kernel.is_product() ||
         memory_seconds(kernel.bytes, sheet, p) > product_seconds(kernel, sheet, p);
}

const std::vector<FormParameter>& energy_parameters() {
  static const std::vector<FormParameter> parameters = {
      {"watts", "W while the kernel runs", 50, 1, 2000, FormPart::all},
      {"per_flop", "J/FLOP", 1e-12, 1e-15, 1e-9, FormPart::all},
      {"per_byte", "J/byte", 3e-11, 1e-13, 1e-8, FormPart::all},
      {"per_launch", "J per launch", 1e-5, 1e-9, 1, FormPart::all}};
  return parameters;
}

double joules_of(const Kernel& kernel, double seconds, const std::vector<double>& p) {
  return p[0] * seconds + p[1] * kernel.flop + p[2] * kernel.bytes + p[3];
}

}  // namespace sluice
