// The placement problem. Kernels run in a fixed order on a device. The device has a small fast memory, and a slow
// memory. Which tensor should be in which memory, and when? The time of a kernel depends on
// the memories in which its operands are. Tensors can be moved between kernels. This is the problem of Hildebrand et
// al., AutoTM (ASPLOS 2020), section 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// The seconds of a kernel for each choice of memories for its operands. A table or a list of lines gives these
/// seconds. A table, for example of measurements, has an entry for each set of operands that are in slow memory. Bit i
/// of the index says whether operand i is in slow memory. A line is a sum: the seconds with all operands in fast
/// memory, plus extra seconds for each operand in slow memory. Of several lines, the line with the most seconds counts.
/// For example, a roofline has one line for the FLOP of the kernel and one line for its bytes. If slow memory is behind
/// a link, the roofline also has one line for each direction of the link.
struct KernelTime {
  struct Line {
    double base = 0;            ///< the seconds with all operands in fast memory
    std::vector<double> extra;  ///< for each operand, the seconds to add if it is in slow memory
    /// Says how the bytes of this line are read or written. With `device`, the device reads and writes them in its own
    /// memories. With `fetching`, the kernel reads bytes in slow memory over the link over which the copy engine
    /// fetches. With `saving`, it writes bytes over the link over which the copy engine saves.
    enum class Over : std::uint8_t { device, fetching, saving } over = Over::device;
  };
  std::vector<Line> lines;
  std::vector<double> table;

  static constexpr std::size_t most_in_table = 12;  ///< the most operands of a kernel with a table

  /// Returns the seconds of the kernel. `slow` says for each operand whether it is in slow memory.
  double at(const std::vector<char>& slow) const;
  /// Compares the lines whose `over` equals the argument, and returns the seconds of the longest line. Returns 0 if
  /// there is no such line. A table counts as a line with `device`.
  double part(const std::vector<char>& slow, Line::Over over) const;
  double all_fast(std::size_t operands) const { return at(std::vector<char>(operands, 0)); }
  /// Returns a lower bound: the kernel takes at least these seconds, in whichever memories its operands are.
  double least() const;
  /// Returns the seconds of each operand in a lower bound: the kernel takes at least least(), plus the seconds of all
  /// operands that are in slow memory.
  std::vector<double> extra_at_least(std::size_t operands) const;
  /// Returns lines that nowhere exceed the seconds of the kernel. For a table, there are two lines. The first line
  /// starts from the seconds when all operands are in fast memory. For each operand in slow memory, it adds the least
  /// seconds that this operand adds anywhere in the table. The second line starts from the seconds when all operands
  /// are in slow memory. For each operand in fast memory, it subtracts the most seconds that this operand adds anywhere
  /// in the table.
  std::vector<Line> lines_below(std::size_t operands) const;
};

struct PlacementProblem {
  enum class Begins : std::uint8_t {
    made,   ///< the first kernel that uses the tensor makes it
    given,  ///< the tensor exists before the first kernel, in the memory that the placement chooses
    /// as `given`, but the tensor must end in the memory in which it begins
    stays
  };
  enum class Pinned : std::uint8_t { no, fast, slow };
  enum class Moves : std::uint8_t {
    free,
    /// A tensor that moves is only in slow memory at the first kernel. A tensor that is always in fast memory does not
    /// move.
    from_slow,
    none  ///< the tensor is in the same memory all the time
  };

  struct Tensor {
    std::string name;
    TensorClass tensor_class = TensorClass::activation;
    std::int64_t bytes = 0;
    Begins begins = Begins::made;
    Pinned pinned = Pinned::no;
    Moves moves = Moves::free;
  };
  struct Operand {
    std::uint32_t tensor = none;
    /// Whether the kernel writes the tensor. Writing makes a copy in the other memory invalid.
    bool written = false;
    /// How many bytes of the tensor the kernel reads, and how many it writes.
    double read_bytes = 0, written_bytes = 0;
  };
  struct Kernel {
    std::string name;
    std::vector<Operand> operands;  ///< each tensor appears once
    KernelTime time;
  };
  struct Rates {
    double to_fast = 0, to_slow = 0;  ///< byte/s
    double fetch_setup_s = 0,
           save_setup_s = 0;  ///< a fixed time of each move, before its bytes flow
  };

  std::string name;
  std::string device = "device";
  std::string fast = "fast", slow = "slow";  ///< the names of the two memories
  /// If given, slow memory must hold each tensor that is not in fast memory for its whole life, as long as it lives.
  std::optional<std::int64_t> slow_capacity;
  std::vector<Tensor> tensors;
  std::vector<Kernel> kernels;
  /// The rates of synchronous moves. During a synchronous move, no kernel runs.
  Rates synchronous;
  /// The rates of the copy engine, which moves tensors while kernels run. If there is no copy engine, `asynchronous` is
  /// empty.
  std::optional<Rates> asynchronous;
  /// The rates at which a hardware cache reads lines from slow memory, and writes lines back to slow memory.
  Rates cache;

  std::uint32_t kernel_count() const { return static_cast<std::uint32_t>(kernels.size()); }
};

/// The uses of a tensor by kernels, in order. Before each use except the first, there is a gap. A tensor of the kind
/// `given` or `stays` also has a gap from the first kernel to its first use. For a tensor of the kind `stays`, this gap
/// also contains the time after the last use.
struct TensorUses {
  std::vector<std::uint32_t> kernels;   ///< the kernel of use i
  std::vector<std::uint32_t> operands;  ///< the index of the operand in that kernel
  std::vector<char> written;

  std::size_t count() const { return kernels.size(); }
};

/// The kernels from `first` to `last` - 1.
struct KernelRange {
  std::uint32_t first = 0, last = 0;
};

/// A checked problem, with data that follow from it.
class PlacementQuestion {
 public:
  /// Throws InputError for these faults: a kernel that reads a tensor before a kernel has made it, a kernel that lists
  /// a tensor twice, a tensor that no kernel uses, a number that is not finite, and a memory without a rate.
  explicit PlacementQuestion(PlacementProblem problem);

  const PlacementProblem& problem() const { return problem_; }
  const PlacementProblem::Tensor& tensor(std::uint32_t t) const { return problem_.tensors[t]; }
  std::uint32_t tensor_count() const { return static_cast<std::uint32_t>(uses_.size()); }
  std::uint32_t kernel_count() const { return problem_.kernel_count(); }
  const TensorUses& uses(std::uint32_t t) const { return uses_[t]; }
  bool has_gap(std::uint32_t t, std::size_t i) const {
    return i > 0 || tensor(t).begins != PlacementProblem::Begins::made;
  }
  /// gap() returns the kernels of the gap before use i. For a tensor of the kind `stays`, the gap before the first use
  /// has a second part, after the last use. behind() returns this second part. For other kinds, behind() returns no
  /// kernels.
  KernelRange gap(std::uint32_t t, std::size_t i) const;
  KernelRange behind(std::uint32_t t) const;
  /// Returns the kernels during which the tensor exists.
  KernelRange live(std::uint32_t t) const;
  /// live_bytes() returns for each kernel the bytes of all tensors that exist during the kernel. peak() returns the
  /// greatest of these numbers.
  const std::vector<std::int64_t>& live_bytes() const { return live_bytes_; }
  std::int64_t peak() const;
  double all_fast_seconds() const;

  /// These two functions return the seconds of a synchronous move of the tensor. fetch_s() is for a move to fast
  /// memory, and save_s() is for a move to slow memory.
  double fetch_s(std::uint32_t t) const { return fetch_s(t, problem_.synchronous); }
  double save_s(std::uint32_t t) const { return save_s(t, problem_.synchronous); }
  /// The same for given rates.
  double fetch_s(std::uint32_t t, const PlacementProblem::Rates& rates) const;
  double save_s(std::uint32_t t, const PlacementProblem::Rates& rates) const;

 private:
  PlacementProblem problem_;
  std::vector<TensorUses> uses_;
  std::vector<std::int64_t> live_bytes_;
};

}  // namespace sluice
