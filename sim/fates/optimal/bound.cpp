#include "fates/optimal/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fates/optimal/frontier.hpp"
#include "fates/optimal/memory_views.hpp"
#include "fates/optimal/overlapped_bounds.hpp"
#include "fates/tape_time.hpp"

namespace sluice {
namespace {

/// Each lower bound on the seconds of a half (bound.hpp) is an inequality. CutValues has one number for each of them.
/// The first numbers are for the inequalities of the cuts (see cuts_of), and the next number for the inequality of the
/// computation. If passes wait for other devices, the backward half has one more inequality: instead of the passes that
/// run again, it counts these waits.
using CutValues = std::vector<double>;

/// Returns the cuts, which are the stages for which the bound has an inequality. The cuts are the first stage and
/// stages at equal distances after it.
std::vector<std::size_t> cuts_of(std::size_t stages) {
  const std::size_t count = std::min<std::size_t>(stages, 16);
  std::vector<std::size_t> cuts;
  for (std::size_t k = 0; k < count; ++k) cuts.push_back(k * stages / count);
  return cuts;
}

/// For each half of a micro-batch (forward and backward), one value per inequality. The values are seconds, or weights
/// whose sum is 1 in each half.
struct PassValues {
  CutValues forward, backward;
};

/// Returns the bound for these weights.
double value_of(const FateRelaxation& relaxation, const FateWeights& weights) {
  return relaxation.best(weights).value + weights.handed_over_s;
}

class Overlap {
 public:
  Overlap(const Chain& chain, const FateRelaxation& relaxation, double whole_passes)
      : chain_(chain),
        relaxation_(relaxation),
        n_(chain.stages.size()),
        cuts_(cuts_of(n_)),
        one_of_all_(1 / static_cast<double>(chain.side_by_side)),
        whole_passes_(whole_passes),
        waits_(std::any_of(
            chain.stages.begin(), chain.stages.end(),
            [](const ChainStage& stage) { return stage.hand_over.backward_wait_s > 0; })),
        first_sums_(first_sums()) {}

  /// Searches for the weights of the inequalities (`means_`) that give the greatest bound. The bound is a concave
  /// function of these weights. Each inequality adds up the seconds of some passes and copies. Each step multiplies the
  /// weight of every inequality by a factor. This factor is greater if the inequality has more seconds. The factors of
  /// later steps are closer to 1 than the factors of earlier steps.
  FateBound best(int steps) {
    means_.forward = means_.backward = CutValues(cuts_.size() + 1);
    means_.forward.back() = means_.backward.back() = 1;
    if (waits_) means_.backward.push_back(0);
    FateBound best{0, value_of(relaxation_, weights()), weights()};
    for (CutValues* means : {&means_.forward, &means_.backward})
      means->assign(means->size(), 1.0 / static_cast<double>(means->size()));
    for (int i = 1; i <= steps; ++i) {
      const FateWeights now = weights();
      const FateRelaxation::BestBound found = relaxation_.best(now);
      const double value = found.value + now.handed_over_s;
      if (value > best.halves) best = {0, value, now};
      const PassValues more = sums(found.more, now, found.price),
                       less = sums(found.less, now, found.price);
      const double share = found.share();
      const double step = 4 / std::sqrt(static_cast<double>(i));
      climb(means_.forward, more.forward, less.forward, share, step);
      climb(means_.backward, more.backward, less.backward, share, step);
    }
    return best;
  }

 private:
  /// Returns the weights of the seconds of each stage's passes and copies. The weight of a pass or a copy is the sum of
  /// the weights of all inequalities that contain its seconds. The saves of stage i are in the inequalities of the cuts
  /// up to i. The forward pass of stage i is in the inequality of the computation, and in the inequalities of the cuts
  /// from i on. If micro-batches run side by side, a cut at i counts this forward pass for one micro-batch only. The
  /// same rules hold for loads and backward passes.
  FateWeights weights() const {
    FateWeights weights;
    spread(means_.forward, weights.save, weights.forward);
    spread(means_.backward, weights.load, weights.backward);
    weights.again = means_.backward[cuts_.size()];
    weights.others = whole_passes_;
    for (const double load : weights.load) weights.turn.push_back(load * whole_passes_);
    for (std::size_t i = 0; i < n_; ++i) {
      const ChainHandOver& all = chain_.stages[i].hand_over;
      const double save = weights.save[i], load = weights.load[i];
      weights.handed_over_s += save * all.save_s + (1 - save) * all.forward_wait_s +
                               load * all.gradient_load_s +
                               (1 - load - weights.again) * all.backward_wait_s;
    }
    return weights;
  }

  void spread(const CutValues& means, std::vector<double>& copies,
              std::vector<double>& runs) const {
    double up_to = 0, before = 0;
    for (std::size_t i = 0, k = 0; i < n_; ++i) {
      before = up_to;
      for (; k < cuts_.size() && cuts_[k] == i; ++k) up_to += means[k];
      copies.push_back(up_to);
      runs.push_back(1 - up_to + (up_to - before) * one_of_all_);
    }
  }

  /// Returns the seconds that do not depend on choices and come first in the sum of their inequality. These are the
  /// passes and waits before the stage of a cut, all forward passes of the inequality of the computation, and all of
  /// the inequality of the waits.
  PassValues first_sums() const {
    PassValues values{CutValues(cuts_.size() + 1), CutValues(cuts_.size() + (waits_ ? 2 : 1))};
    double forward = 0, backward = 0;
    for (std::size_t i = 0, k = 0; i < n_; ++i) {
      if (k < cuts_.size() && cuts_[k] == i) {
        values.forward[k] = forward;
        values.backward[k++] = backward;
      }
      forward += chain_.stages[i].forward_s + chain_.stages[i].hand_over.forward_wait_s;
      backward += chain_.stages[i].backward_s + chain_.stages[i].hand_over.backward_wait_s;
    }
    values.forward.back() = forward;
    if (waits_) values.backward.back() = backward;
    return values;
  }

  PassValues sums(const FateRelaxation::Solution& solution, const FateWeights& weights,
                  double price) const {
    const Choices& choices = solution.choices;
    PassValues values = first_sums_;
    double& computed_backward = values.backward[cuts_.size()];
    for (std::size_t i = 0, k = 0; i < n_; ++i) {  // k is the number of cuts up to stage i
      const bool is_cut = k < cuts_.size() && cuts_[k] == i;
      if (is_cut) ++k;
      const ChainStage& stage = chain_.stages[i];
      double save = stage.hand_over.save_s, load = stage.hand_over.gradient_load_s;
      const auto copy = [&](const ChainTensor& tensor, Fate fate, std::uint32_t loads) {
        if (fate == Fate::offload) save += tensor.save_s, load += loads * tensor.load_s;
      };
      copy(stage.inner, choices.inner[i], 1);
      copy(stage.output, choices.boundary[i + 1], solution.loads[i + 1]);
      if (i == 0) load += solution.loads[0] * chain_.input.load_s;
      if (weights.turn[i] * stage.turn.load_s < price * static_cast<double>(stage.turn.bytes))
        load += whole_passes_ * stage.turn.load_s;
      for (std::size_t c = 0; (save > 0 || load > 0) && c < k; ++c) {
        values.forward[c] += save;
        values.backward[c] += load;
      }
      if (is_cut) {
        values.forward[k - 1] += one_of_all_ * stage.forward_s;
        values.backward[k - 1] += one_of_all_ * stage.backward_s;
      }
      computed_backward += stage.backward_s;
      if (choices.inner[i] == Fate::recompute) computed_backward += stage.forward_s;
    }
    return values;
  }

  static void climb(CutValues& means, const CutValues& more, const CutValues& less, double share,
                    double step) {
    CutValues slope(means.size());
    for (std::size_t k = 0; k < means.size(); ++k)
      slope[k] = more[k] * (1 - share) + less[k] * share;
    const auto [low, high] = std::minmax_element(slope.begin(), slope.end());
    const double most = *high, range = most - *low;
    if (range <= 0) return;
    double sum = 0;
    for (std::size_t k = 0; k < means.size(); ++k)
      sum += means[k] = std::max(1e-9, means[k] * std::exp(step * (slope[k] - most) / range));
    for (double& mean : means) mean /= sum;
  }

  const Chain& chain_;
  const FateRelaxation& relaxation_;
  std::size_t n_;
  std::vector<std::size_t> cuts_;
  double one_of_all_;  ///< 1 / the number of micro-batches side by side
  double whole_passes_;
  bool waits_;  ///< whether backward passes wait for other devices
  PassValues first_sums_;
  PassValues means_;
};

/// Returns the seconds of the copies that every tape must make, for each copy engine.
EngineSeconds compulsory_copies(const Chain& chain) {
  return engine_seconds(chain, tape_of(chain, std::vector<Fate>(chain.stages.size(), Fate::keep)));
}

/// The seconds of a run are at least those of a copy engine, and at least those of the two halves. So they are at least
/// any weighted mean of these two lower bounds. Returns the bound that follows from the mean with weight `part` for the
/// copy engine, and weight 1 - `part` for the two halves.
double beside_engine(const FateRelaxation& relaxation, const FateRun& run, FateWeights weights,
                     const EngineSeconds& copies, double part, bool loads) {
  const auto scale = [part](std::vector<double>& row, double more) {
    for (double& weight : row) weight = weight * (1 - part) + more;
  };
  scale(weights.forward, 0), scale(weights.backward, 0), scale(weights.turn, 0);
  scale(weights.save, loads ? 0 : part), scale(weights.load, loads ? part : 0);
  weights.again *= 1 - part;
  weights.handed_over_s *= 1 - part;
  return run.micro_batches *
             (value_of(relaxation, weights) + part * (loads ? copies.loaded : copies.saved)) +
         (1 - part) * (run.batches * run.update_s + run.idle_s());
}

}  // namespace

namespace {

/// Returns the bound without regard to a limit of host memory. If there is a limit, the caller has added a price of
/// host memory to the seconds of the saves in `chain`.
FateBound bound_at(const Chain& chain, std::int64_t budget, Copies copies, int steps,
                   double whole_passes) {
  const std::size_t n = chain.stages.size();
  FateBound bound{0, 0, FateWeights::serial(n)};
  if (n == 0) return bound;
  const FateRelaxation relaxation(chain, budget);
  const double input = chain.input.bytes > 0 ? chain.input.load_s : 0;
  if (!relaxation.fits()) {
    bound.seconds = bound.halves = std::numeric_limits<double>::infinity();
  } else if (copies == Copies::serial) {
    const EngineSeconds around = compulsory_copies(chain);
    // All micro-batches make the same copies, and all seconds count here, not only those after the turning point.
    const auto count = static_cast<double>(chain.side_by_side);
    if (count > 1) bound.weights.others = count / (count - 1);
    bound.seconds = std::max(relaxation.best(bound.weights).value,
                             whole_tensors_bound(chain, budget, bound.weights)) +
                    around.loaded + around.saved;
    bound.halves = bound.seconds - input;
  } else {
    bound = Overlap(chain, relaxation, whole_passes).best(steps);
    bound.seconds = std::max(bound.halves, input);
  }
  return bound;
}

double room_at(const Chain& chain, double price) {
  return price > 0 ? price * static_cast<double>(*chain.host_room) : 0;
}

/// Returns the bounds for a chain in which the seconds of the saves already include a price per byte of host memory.
/// `host` is this price times the bytes of host memory that the copies may occupy.
OverlappedBounds overlapped_at(const Chain& chain, const FateRun& run, std::int64_t budget,
                               int steps, double host) {
  const FateRelaxation relaxation(chain, budget);
  const FateBound bound = bound_at(chain, budget, Copies::overlapped, steps, run.whole_passes);
  OverlappedBounds best{bound.seconds - host, run_bound(chain, run, bound.halves - host)};
  if (!relaxation.fits() || chain.stages.empty()) return best;
  const EngineSeconds copies = compulsory_copies(chain);
  for (const bool loads : {false, true})
    for (const double part : {0.15, 0.3, 0.5, 0.7, 0.85, 1.0})
      best.run =
          std::max(best.run, beside_engine(relaxation, run, bound.weights, copies, part, loads) -
                                 run.micro_batches * host);
  return best;
}

/// Tries different views of the devices' memories, and different prices of a byte of host memory. Each view and price
/// gives a bound. Returns the greatest bound.
OverlappedBounds greatest_bounds(const Chain& chain, const FateRun& run, std::int64_t budget,
                                 int steps) {
  OverlappedBounds best;
  for (const double price : host_prices(chain))
    for (const Chain& view : memory_views(with_host_price(chain, price))) {
      const OverlappedBounds bounds =
          overlapped_at(view, run, budget, steps, room_at(chain, price));
      best.micro_batch = std::max(best.micro_batch, bounds.micro_batch);
      best.run = std::max(best.run, bounds.run);
    }
  return best;
}

}  // namespace

FateBound bound_of(const Chain& chain, std::int64_t budget, Copies copies, int steps,
                   double whole_passes) {
  FateBound best;
  for (const double price : host_prices(chain))
    for (const Chain& view : memory_views(with_host_price(chain, price))) {
      FateBound bound = bound_at(view, budget, copies, steps, whole_passes);
      bound.seconds -= room_at(chain, price);
      bound.halves -= room_at(chain, price);
      if (bound.seconds > best.seconds || best.weights.save.empty()) best = std::move(bound);
    }
  return best;
}

double run_bound(const Chain& chain, const FateRun& run, double halves) {
  const bool reads = chain.input.bytes > 0;
  const double input_s = reads ? chain.input.load_s : 0, latency_s = chain.load_latency_s;
  const auto side_by_side = static_cast<double>(chain.side_by_side);
  double computed = 0, waits = 0;
  for (const ChainStage& stage : chain.stages) {
    computed += stage.forward_s + stage.backward_s;
    waits += stage.hand_over.forward_wait_s + stage.hand_over.backward_wait_s;
  }
  const double updates = run.batches * run.update_s;
  const double others = updates + run.idle_s();
  const double in_turn = run.micro_batches * std::max(halves, computed + waits) + others;
  if (!reads) return in_turn;
  const double first_input = input_s / side_by_side + latency_s;
  const double before_last = run.micro_batches > 1 ? run.weights_s : run.first_weights_s;
  return std::max(
      {run.first_weights_s + first_input + in_turn,
       run.weights_wait_s + first_input + run.micro_batches * (computed + waits) + others,
       before_last + run.micro_batches * input_s + latency_s + computed / side_by_side +
           run.update_s});
}

OverlappedBounds overlapped_bounds(const Chain& chain, const FateRun& run, std::int64_t budget) {
  constexpr int steps = 200;
  OverlappedBounds bounds = greatest_bounds(chain, run, budget, steps);
  // greatest_bounds() bounds the mean seconds of all passes over the model. A full pass computes the full number of
  // micro-batches. If some passes are not full, a full pass has a greater bound than this mean. So the bound of a full
  // pass is computed separately.
  if (run.whole_passes < 1) bounds.micro_batch = fate_bound(chain, budget, Copies::overlapped);
  return bounds;
}

double run_bound_within(const Chain& chain, const FateRun& run, std::int64_t budget, int steps) {
  return greatest_bounds(chain, run, budget, steps).run;
}

double fate_bound(const Chain& chain, std::int64_t budget, Copies copies) {
  return bound_of(chain, budget, copies).seconds;
}

}  // namespace sluice
