// Encodes a chunk of a column as HDF5 stores it. The three steps are shuffle, deflate and fletcher32.
//
// HDF5 could encode the chunks itself, but its deflate filter searches for repeated strings. The bytes of times have no
// repeated strings, and the search for such strings takes longer than the simulation. So this code looks only for runs
// of equal bytes (zlib's Z_RLE). The file is a quarter larger than with HDF5's filter, but it is written three times as
// fast. Every HDF5 library can read the file. Compression saves no space for the low bytes of times. So these bytes are
// stored uncompressed, inside the deflate stream of the chunk.
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

  /// Returns the stored form of `rows` cells of `width` bytes each. The returned bytes are valid until the next call.
  std::span<const unsigned char> encode(const unsigned char* raw, std::size_t rows,
                                        std::size_t width);

 private:
  struct Deflate;
  void deflate_part(const unsigned char* part, std::size_t bytes, bool last);
  std::unique_ptr<Deflate> deflate_;
  std::vector<unsigned char> shuffled_, stored_;
};

}  // namespace sluice
