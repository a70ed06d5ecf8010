// The placement problem. Kernels run in a fixed order on a device with a small fast memory. Its slow memory can hold
// all tensors. For each tensor, one of the two memories is to be chosen. The time of a kernel depends on the memories
// of its operands. Tensors can be moved between kernels. This is the problem of Hildebrand et al., AutoTM (ASPLOS
// 2020), section 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// The seconds of a kernel for each choice of memories. A table or a list of lines gives these seconds. A table, for
/// example of measurements, has an entry for each set of operands in slow memory. Bit i of the index stands for
/// operand i. If there are several lines, the line with the most seconds counts. For example, a roofline has one line
/// for its FLOP and one line for its bytes.
struct KernelTime {
  struct Line {
    double base = 0;            ///< the seconds with all operands in fast memory
    std::vector<double> extra;  ///< for each operand, the seconds to add if it is in slow memory
    /// Says where the bytes of this line are read or written. With `device`, the bytes are in a memory of the device.
    /// With `fetching` or `saving`, the bytes are in slow memory. They cross the link on which the copy engine
    /// fetches or saves.
    enum class Over : std::uint8_t { device, fetching, saving } over = Over::device;
  };
  std::vector<Line> lines;
  std::vector<double> table;

  static constexpr std::size_t most_in_table = 12;  ///< the most operands of a kernel with a table

  /// Returns the seconds. `slow` says for each operand whether it is in slow memory.
  double at(const std::vector<char>& slow) const;
  /// Returns the most seconds of any line with this `over`, or 0 if no line has this `over`. A table counts as a line
  /// with `device`.
  double part(const std::vector<char>& slow, Line::Over over) const;
  double all_fast(std::size_t operands) const { return at(std::vector<char>(operands, 0)); }
  /// Returns a lower bound of the seconds for all placements of the operands.
  double least() const;
  /// Returns lines that nowhere exceed the seconds. For a table, there are two lines. The first line is exact with
  /// all operands in fast memory. It adds seconds for each operand in slow memory: the least that this operand adds
  /// in any entry of the table. The second line is exact with all operands in slow memory. It subtracts seconds for
  /// each operand in fast memory: the most that this operand adds in any entry.
  std::vector<Line> lines_below(std::size_t operands) const;
};

struct PlacementProblem {
  enum class Begins : std::uint8_t {
    made,   ///< the first kernel that uses the tensor makes it
    given,  ///< the tensor exists before the first kernel, in the memory that the placement chooses
    /// like `given`, and the tensor must end in the memory in which it began
    stays
  };
  enum class Pinned : std::uint8_t { no, fast, slow };

  struct Tensor {
    std::string name;
    TensorClass tensor_class = TensorClass::activation;
    std::int64_t bytes = 0;
    Begins begins = Begins::made;
    Pinned pinned = Pinned::no;
  };
  struct Operand {
    std::uint32_t tensor = none;
    /// Whether the kernel writes the tensor. If the kernel writes the tensor, a copy in the other memory becomes
    /// invalid.
    bool written = false;
    /// The bytes of the tensor that the kernel reads and writes. A hardware cache counts these bytes.
    double read_bytes = 0, written_bytes = 0;
  };
  struct Kernel {
    std::string name;
    std::vector<Operand> operands;  ///< each tensor appears once
    KernelTime time;
  };
  /// Rates of moves, byte/s.
  struct Rates {
    double to_fast = 0, to_slow = 0;
  };

  std::string name;
  std::string device = "device";
  std::string fast = "fast", slow = "slow";  ///< the names of the two memories
  std::optional<std::int64_t> slow_capacity;
  std::vector<Tensor> tensors;
  std::vector<Kernel> kernels;
  /// The rates of a synchronous move. No kernel and no other move runs during a synchronous move.
  Rates synchronous;
  /// The rates of the copy engine, which moves data while kernels run. Without a copy engine, `asynchronous` is empty.
  std::optional<Rates> asynchronous;
  /// The rates at which a hardware cache fills a line from slow memory and writes a line back.
  Rates cache;

  std::uint32_t kernel_count() const { return static_cast<std::uint32_t>(kernels.size()); }
};

/// The uses of a tensor by kernels, in order. There is a gap before each use except the first. A tensor that is given
/// at the start also has a gap before its first use. This gap begins with the first kernel. For a tensor of the kind
/// `stays`, it also contains the time after the last use.
struct TensorUses {
  std::vector<std::uint32_t> kernels;   ///< the kernel of use i
  std::vector<std::uint32_t> operands;  ///< the index of the operand in that kernel
  std::vector<char> written;

  std::size_t count() const { return kernels.size(); }
};

/// The kernels first..last - 1.
struct KernelRange {
  std::uint32_t first = 0, last = 0;
};

/// A checked problem, with data that follow from it.
class PlacementQuestion {
 public:
  /// Throws InputError for these faults: an operand without a memory, an operand that is listed twice, a tensor
  /// without a kernel, a number that is not finite, and a memory without a rate. Throws Infeasible if slow memory
  /// cannot hold all tensors.
  explicit PlacementQuestion(PlacementProblem problem);

  const PlacementProblem& problem() const { return problem_; }
  const PlacementProblem::Tensor& tensor(std::uint32_t t) const { return problem_.tensors[t]; }
  std::uint32_t tensor_count() const { return static_cast<std::uint32_t>(uses_.size()); }
  std::uint32_t kernel_count() const { return problem_.kernel_count(); }
  const TensorUses& uses(std::uint32_t t) const { return uses_[t]; }
  bool has_gap(std::uint32_t t, std::size_t i) const {
    return i > 0 || tensor(t).begins != PlacementProblem::Begins::made;
  }
  /// gap() returns the kernels of the gap before use i. For a tensor of the kind `stays`, the gap before the first
  /// use has a second part after the last use. behind() returns the second part. It is empty for other kinds.
  KernelRange gap(std::uint32_t t, std::size_t i) const;
  KernelRange behind(std::uint32_t t) const;
  /// Returns the kernels during which the tensor exists.
  KernelRange live(std::uint32_t t) const;
  /// live_bytes() returns for each kernel the bytes of the tensors that exist during it. peak() returns the greatest
  /// of these numbers.
  const std::vector<std::int64_t>& live_bytes() const { return live_bytes_; }
  std::int64_t peak() const;
  double all_fast_seconds() const;

  /// Return the seconds of a synchronous move of the tensor to fast memory (fetch_s) or to slow memory (save_s).
  double fetch_s(std::uint32_t t) const;
  double save_s(std::uint32_t t) const;

 private:
  PlacementProblem problem_;
  std::vector<TensorUses> uses_;
  std::vector<std::int64_t> live_bytes_;
};

}  // namespace sluice
