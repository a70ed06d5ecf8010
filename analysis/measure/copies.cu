// Measures copies between host memory and a GPU with CUDA alone, and writes a profile for `sluice profile link`.
//
//   nvcc -O2 -o copies analysis/measure/copies.cu && ./copies > copies.csv
//   sluice profile link copies.csv --platform a100_pcie -o mine.yaml
//
// Each size is copied to the GPU (down) and back (up), with pinned and with pageable memory. In both directions, the
// program measures single copies (method `single`), and series of copies without a pause (method `queued`). The GPU's
// clock measures the time.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int repetitions = 20, warm_up = 3;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Returns the seconds of one copy, as the mean of `calls` copies that follow each other.
double seconds_of(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, int calls) {
  static cudaEvent_t start = nullptr, end = nullptr;
  if (start == nullptr) {
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&end), "event");
  }
  check(cudaDeviceSynchronize(), "synchronise");
  check(cudaEventRecord(start), "record");
  for (int call = 0; call < calls; ++call)
    check(cudaMemcpyAsync(to, from, bytes, kind), "copy");
  check(cudaEventRecord(end), "record");
  check(cudaEventSynchronize(end), "synchronise");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, end), "elapsed");
  return milliseconds / 1e3 / calls;
}

void measure(void* host, void* device, std::size_t bytes, const char* memory, bool down,
             bool queued) {
  void* const to = down ? device : host;
  const void* const from = down ? host : device;
  const cudaMemcpyKind kind = down ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  const auto many = static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 28) / bytes, 4, 64));
  const int calls = queued ? many : 1;
  for (int i = 0; i < warm_up; ++i) seconds_of(to, from, bytes, kind, calls);
  std::printf("copy,bytes=%zu,%s,%s,%s,%d,", bytes, down ? memory : "device",
              down ? "device" : memory, queued ? "queued" : "single", calls);
  for (int i = 0; i < repetitions; ++i)
    std::printf("%s%.9g", i == 0 ? "" : ";", seconds_of(to, from, bytes, kind, calls));
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "there is no GPU, so nothing was measured");
  std::printf("# format: sluice-profile/1\n# name: copies between host and device\n"
              "# device: \"%s\"\n# how: {method: loop, timer: CUDA events, warmup: %d}\n"
              "operator,sizes,input_pools,output_pools,method,calls,seconds_samples\n",
              properties.name, warm_up);
  for (std::size_t bytes = std::size_t{1} << 10; bytes <= std::size_t{1} << 30; bytes *= 4) {
    void *device = nullptr, *pinned = nullptr, *pageable = std::malloc(bytes);
    check(cudaMalloc(&device, bytes), "memory of the GPU");
    check(cudaMallocHost(&pinned, bytes), "pinned memory");
    if (pageable == nullptr) return 1;
    std::memset(pinned, 1, bytes);
    std::memset(pageable, 1, bytes);
    for (const bool is_pinned : {true, false})
      for (const bool down : {true, false})
        for (const bool queued : {false, true})
          measure(is_pinned ? pinned : pageable, device, bytes, is_pinned ? "pinned" : "pageable",
                  down, queued);
    std::free(pageable);
    check(cudaFreeHost(pinned), "free");
    check(cudaFree(device), "free");
  }
  return 0;
}
