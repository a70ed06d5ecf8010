// Finds placements that fit. First, tensors are put into fast memory one after the other, by the prices of fast memory:
// tensors that save many seconds for a low price come first. Each tensor gets the best path (placing.hpp) for which the
// tensors before it leave room. Then a search changes the placement many times. Each time, it chooses a kernel at
// random. It takes some of the tensors that exist during this kernel out of fast memory, and puts them back in a random
// order. It keeps the new placement unless the new placement is slower. The search follows Shaw, Using constraint
// programming and local search methods to solve vehicle routing problems (1998).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/overlap.hpp"
#include "placement/relaxation.hpp"

namespace sluice {

struct ImproveRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  PlacementWeights weights = {};
  /// If given, the copy engine makes moves while kernels run, where it has time and fast memory has room. The number is
  /// the price of a second of the engine. If not given, all moves are synchronous.
  std::optional<double> engine = {};
  std::uint64_t seed = 15;  ///< of the random numbers of a search
};

/// A placement that is changed one tensor at a time. Each change also updates the placement's bytes and seconds. The
/// bytes include those of tensors that the copy engine is moving. The seconds also have the price of the engine's
/// seconds.
class PlacementDraft {
 public:
  PlacementDraft(const ImproveRequest& request, Placing placing);
  /// Only for a request with a copy engine. The engine makes the same moves as in the schedule, as far as they fit.
  PlacementDraft(const ImproveRequest& request, const PlacementSchedule& schedule);

  const Placing& placing() const { return placing_; }
  double seconds() const { return seconds_; }
  PlacementSchedule schedule() const;

  /// How a tensor is placed, and how it is moved. Without a copy engine, `moves` is empty.
  struct OfTensor {
    TensorPath path;
    std::vector<EngineWindow> moves;
  };
  OfTensor of_tensor(std::uint32_t t) const { return {placing_[t], moves_[t]}; }
  /// Places a tensor as it was before. take_out() must have been called for the tensor.
  void put_back(std::uint32_t t, OfTensor before);

  /// Puts a tensor into slow memory for its whole life, unless it is pinned to fast memory.
  void take_out(std::uint32_t t);
  /// Gives a tensor the best path for which the other tensors leave room in fast memory. `prices` has the price
  /// of a byte during each kernel. If `prices` is empty, all prices are 0.
  void put_in(std::uint32_t t, const std::vector<double>& prices);
  void set(std::uint32_t t, TensorPath path);
  /// Returns whether fast memory has room for this path of a tensor. take_out() must have been called for the tensor.
  bool has_room_for(std::uint32_t t, const TensorPath& path) const;

 private:
  PathPrices prices_of(std::uint32_t t, const std::vector<double>& sums) const;
  bool room(KernelRange range, std::int64_t bytes) const;
  double path_seconds(std::uint32_t t, const TensorPath& path) const;
  void set_path(std::uint32_t t, TensorPath path);
  EngineWindow planned(const PlacementMove& move, KernelRange range) const;
  double price_of(const EngineWindow& window) const;
  void add_moves(std::uint32_t t);
  void add(std::uint32_t t, EngineWindow window, int sign = 1);
  void remove_moves(std::uint32_t t);

  const ImproveRequest& request_;
  const PlacementQuestion& question_;
  Placing placing_;
  std::vector<std::int64_t> bytes_;  ///< the bytes in fast memory, indexed by kernel
  std::vector<std::vector<char>> slow_;
  std::vector<double> kernel_s_;
  std::vector<double> taken_s_;  ///< the seconds for which the copy engine works, indexed by kernel
  std::vector<std::vector<EngineWindow>> moves_;  ///< indexed by tensor; only with a copy engine
  double seconds_ = 0;
};

/// Returns a placement that fits, made with the help of prices. Tensors with a path in `begin` come first, and get this
/// path if there is room.
Placing placing_from(const ImproveRequest& request, const std::vector<double>& prices,
                     const std::vector<std::optional<TensorPath>>& begin = {});

/// Puts tensors that are always in slow memory into fast memory, as far as there is room and the weighted seconds do not
/// grow. Weights and inputs come first, and of these the largest: they are loaded, and loads into fast memory need not
/// pass through a link to slow memory.
Placing filled_up(const ImproveRequest& request, Placing placing);

/// Returns the best placement that a search finds in `tries` tries. The search begins with `placing`, which must fit.
/// The search ends early if the placement's seconds come down to `bound`, a lower bound.
Placing improved(const ImproveRequest& request, Placing placing, const std::vector<double>& prices,
                 std::size_t tries, double bound);

/// Returns the best schedule that a search finds in `tries` tries. The copy engine moves tensors while kernels run. The
/// search begins with a schedule that is made with the help of prices, or with `known` if `known` is faster.
PlacementSchedule improved_schedule(const ImproveRequest& request, const PlacementSchedule& known,
                                    const std::vector<double>& prices, std::size_t tries);

}  // namespace sluice
