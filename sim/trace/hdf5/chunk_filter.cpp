#include "trace/hdf5/chunk_filter.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.hpp"

namespace sluice {

namespace {

/// Reorders the bytes of all cells of a chunk: byte 0 of each cell, then byte 1 of each cell, and so on.
template <std::size_t width>
void shuffle_cells(const unsigned char* raw, std::size_t rows, unsigned char* out) {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t byte = 0; byte < width; ++byte)
      out[byte * rows + row] = raw[row * width + byte];
}

void shuffle(const unsigned char* raw, std::size_t rows, std::size_t width, unsigned char* out) {
  if (width == 8) return shuffle_cells<8>(raw, rows, out);
  if (width == 4) return shuffle_cells<4>(raw, rows, out);
  for (std::size_t byte = 0; byte < width; ++byte)
    for (std::size_t row = 0; row < rows; ++row) out[byte * rows + row] = raw[row * width + byte];
}

/// Computes Fletcher's checksum over big-endian 16-bit words. If the number of bytes is odd, the last word is the last
/// byte and a zero. To avoid overflow, the sums are reduced modulo 65535 after every 360 words.
std::uint32_t fletcher32(const unsigned char* data, std::size_t bytes) {
  std::uint32_t low = 0, high = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  std::size_t at = 0;
  while (at + 1 < bytes) {
    const std::size_t stop = std::min(at + 720, bytes - bytes % 2);
    for (; at < stop; at += 2) {
      low += static_cast<std::uint32_t>(data[at] << 8 | data[at + 1]);
      high += low;
    }
    low = fold(low);
    high = fold(high);
  }
  if (at < bytes) {
    low += static_cast<std::uint32_t>(data[at] << 8);
    high += low;
  }
  low = fold(fold(low));
  high = fold(fold(high));
  return high << 16 | low;
}

/// Guesses whether the bytes are random, so that compression would save nothing. Counts the different values in a
/// sample of 256 bytes. A sample of random bytes has about 160 different values.
bool looks_random(const unsigned char* bytes, std::size_t count) {
  constexpr std::size_t sample = 256, many = 130;
  if (count < 4 * sample) return false;
  std::array<bool, 256> seen{};
  const std::size_t step = count / sample;
  for (std::size_t i = 0; i < sample; ++i) seen[bytes[i * step]] = true;
  return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true)) > many;
}

}  // namespace

struct ChunkFilter::Deflate {
  z_stream stream{};
  int level = 1;
};

ChunkFilter::ChunkFilter() : deflate_(std::make_unique<Deflate>()) {
  if (deflateInit2(&deflate_->stream, 1, Z_DEFLATED, 15, 8, Z_RLE) != Z_OK)
    throw InternalError("zlib cannot be set up");
}

ChunkFilter::~ChunkFilter() {
  deflateEnd(&deflate_->stream);
}

/// Appends bytes to the deflate stream. Bytes that look random are not compressed.
void ChunkFilter::deflate_part(const unsigned char* part, std::size_t bytes, bool last) {
  z_stream& stream = deflate_->stream;
  const int level = looks_random(part, bytes) ? 0 : 1;
  int done = Z_OK;
  if (level != deflate_->level) done = deflateParams(&stream, level, Z_RLE);
  deflate_->level = level;
  // zlib does not write through next_in, although the type of next_in lacks const.
  stream.next_in = const_cast<unsigned char*>(part);
  stream.avail_in = static_cast<uInt>(bytes);
  if (done == Z_OK) done = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
  if (done != (last ? Z_STREAM_END : Z_OK) || stream.avail_in != 0)
    throw InternalError("zlib cannot compress a chunk");
}

std::span<const unsigned char> ChunkFilter::encode(const unsigned char* raw, std::size_t rows,
                                                   std::size_t width) {
  const std::size_t bytes = rows * width;
  z_stream& stream = deflate_->stream;
  if (shuffled_.size() < bytes) shuffled_.resize(bytes);
  // The result of deflateBound() does not count the headers of uncompressed bytes. So room for these headers is added.
  const std::size_t bound = deflateBound(&stream, bytes) + bytes / 1000 + 64 * width + 4;
  if (stored_.size() < bound) stored_.resize(bound);

  if (width > 1) shuffle(raw, rows, width, shuffled_.data());
  stream.next_out = stored_.data();
  stream.avail_out = static_cast<uInt>(stored_.size());
  if (deflateReset(&stream) != Z_OK) throw InternalError("zlib cannot be set up");
  const unsigned char* const coded = width > 1 ? shuffled_.data() : raw;
  for (std::size_t byte = 0; byte < width; ++byte)
    deflate_part(coded + byte * rows, rows, byte + 1 == width);

  std::size_t size = stream.total_out;
  const std::uint32_t sum = fletcher32(stored_.data(), size);
  for (int byte = 0; byte < 4; ++byte)
    stored_[size++] = static_cast<unsigned char>(sum >> (8 * byte));
  return {stored_.data(), size};
}

}  // namespace sluice
