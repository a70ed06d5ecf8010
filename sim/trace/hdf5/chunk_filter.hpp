// A chunk of a column as HDF5 stores it: shuffle, deflate, fletcher32, in that order.
//
// Why not leave it to HDF5: its deflate searches for repeated strings, which the bytes of times do
// not have, and costs more than simulating. Coding runs only (zlib's Z_RLE) gives a file that every
// HDF5 reads, a quarter larger and three times as fast. What shuffling made of the low bytes of
// times does not become smaller at all: it is stored as it is, inside the same deflate stream.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace sluice {

class ChunkFilter {
 public:
  ChunkFilter();
  ~ChunkFilter();
  ChunkFilter(const ChunkFilter&) = delete;
  ChunkFilter& operator=(const ChunkFilter&) = delete;

  /// The stored form of `rows` cells of `width` bytes; valid until the next call.
  std::span<const unsigned char> encode(const unsigned char* raw, std::size_t rows,
                                        std::size_t width);

 private:
  struct Deflate;
  void deflate_part(const unsigned char* part, std::size_t bytes, bool last);
  std::unique_ptr<Deflate> deflate_;
  std::vector<unsigned char> shuffled_, stored_;
};

}  // namespace sluice
