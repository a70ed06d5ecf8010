// Encodes a chunk of a column as HDF5 stores it: shuffle, deflate and fletcher32, in that order.
//
// HDF5 could do this, but its deflate searches for repeated strings. The bytes of times have none, and the search takes
// longer than the simulation. If only runs of equal bytes are coded (zlib's Z_RLE), the file is a quarter larger but
// written three times as fast, and every HDF5 can read it. The low bytes of times do not become smaller at all. They
// are stored as they are, inside the same deflate stream.
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

  /// Returns the stored form of `rows` cells of `width` bytes. It is valid until the next call.
  std::span<const unsigned char> encode(const unsigned char* raw, std::size_t rows,
                                        std::size_t width);

 private:
  struct Deflate;
  void deflate_part(const unsigned char* part, std::size_t bytes, bool last);
  std::unique_ptr<Deflate> deflate_;
  std::vector<unsigned char> shuffled_, stored_;
};

}  // namespace sluice
