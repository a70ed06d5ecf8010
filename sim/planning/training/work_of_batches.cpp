#include "planning/training/work_of_batches.hpp"

#include <algorithm>

#include "planning/copy_time.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/rounding.hpp"

namespace sluice {

namespace {

TrainingSums part(const TrainingSums& a, const TrainingSums& b, double factor) {
  TrainingSums made;
  for (double TrainingSums::*const what :
       {&TrainingSums::compute_s, &TrainingSums::load_s, &TrainingSums::save_s,
        &TrainingSums::link_s, &TrainingSums::shared_loads_s, &TrainingSums::shared_saves_s,
        &TrainingSums::shared_s, &TrainingSums::sums_s, &TrainingSums::additions})
    made.*what = (a.*what - b.*what) * factor;
  return made;
}
TrainingSums less(const TrainingSums& a, const TrainingSums& b) {
  return part(a, b, 1);
}

}  // namespace

std::vector<TrainingSums> training_sums(const PolicyRequest& request, const TrainingOrder& order,
                                        const std::vector<StepSize>& sizes) {
  const Platform& platform = request.pricing.platform;
  const StepMachine machine{
      platform,      order.devices,        smallest_device(platform, order.devices).name,
      order.overlap, request.real_machine, request.replicas};
  std::vector<TrainingSums> all;
  with_step_shape(request, order, [&](StepShape step) {
    for (const StepSize& size : sizes) {
      step.micro_batches = size.micro_batches;
      step.in_flight = size.in_flight;
      step.batches = size.batches;
      all.push_back(sums_of(make_step(step), machine));
    }
  });
  return all;
}

WorkOfBatches::WorkOfBatches(const PolicyRequest& request, const TrainingOrder& order)
    : request_(request), order_(order), priced_alike_(devices_alike(request, order)) {
  const bool several = request.workload.batch > request.workload.micro_batch;
  std::vector<StepSize> sizes = {{1, 1}, {1, 1, 2}};
  if (several) sizes.insert(sizes.end(), {{2, 1}, {3, 1}, {4, 2}});
  const std::vector<TrainingSums> sums = training_sums(request, order, sizes);
  one_ = sums[0];
  between_ = less(one_, less(sums[1], one_));
  if (!several) return;
  two_passes_ = sums[2];
  each_ = part(sums[4], two_passes_, 0.5);
  pass_ = less(less(sums[3], two_passes_), each_);
}

double WorkOfBatches::at_least(double batches, std::int64_t micro_batches,
                               std::int64_t passes) const {
  if (!priced_alike_) return 0;
  const TrainingSums& base = passes == 1 ? one_ : two_passes_;
  const auto more = static_cast<double>(micro_batches - (passes == 1 ? 1 : 2));
  const auto turns = static_cast<double>(passes == 1 ? 0 : passes - 2);
  const double following = batches - static_cast<double>(request_.workload.steps);
  const auto sum = [&](double TrainingSums::*what) {
    return batches * (base.*what + more * (each_.*what) + turns * (pass_.*what)) -
           following * (between_.*what);
  };
  const TrainingSums::StayingLoads& staying = one_.staying;
  const double compute = sum(&TrainingSums::compute_s),
               load = sum(&TrainingSums::load_s) + staying.load_s,
               save = sum(&TrainingSums::save_s);
  const double additions = sum(&TrainingSums::additions);
  // In a pass with fewer micro-batches than the others, the bytes of copies may be rounded. So the bound is lowered
  // a little.
  constexpr double division = 1 - 1e-9;
  const double computed =
      one_.first_loads_s + compute + sum(&TrainingSums::sums_s) + one_.last_saves_s;
  const double link = std::max({sum(&TrainingSums::link_s) + staying.link_s,
                                sum(&TrainingSums::shared_loads_s) + staying.shared_loads_s,
                                sum(&TrainingSums::shared_saves_s),
                                sum(&TrainingSums::shared_s) + staying.shared_s}) *
                      within_accuracy;
  double least = std::max(computed, std::max({load, save, link}) * division);
  // Without overlap, copies between host memory and the device do not run beside computations. But they may run while
  // gradients are summed. Weights that stay come first. With equal replicas, one of them has its weights when those of
  // all replicas have been loaded.
  if (!order_.overlap) {
    const double differ_s = request_.replicas ? request_.replicas->sums_differ_s : 0;
    const double later_s = staying.shared_loads_s * within_accuracy - differ_s - staying.load_s;
    least = std::max(least, (compute + load + save + std::max(0.0, later_s)) * division);
  }
  return lowered_for_rounding(least, additions);
}

// There are `in_flight` micro-batches side by side: an operation of the tape computes them one after the other. The
// device holds the most bytes at the first or the last of them. At both, the bytes are a linear function of the number
// of micro-batches. The peak is the greatest of such functions, so each further micro-batch adds at least as much to it
// as the one before. So beyond 3 micro-batches, each adds at least (peak of 3) - (peak of 2).
DeviceBytes PeaksOfBatches::at_least(std::int64_t in_flight, bool several_passes) {
  auto& few = few_[several_passes ? 1 : 0];
  // Sizes that are computed together need the fates only once.
  const std::int64_t least = in_flight <= 3 ? in_flight : 2,
                     most = std::min<std::int64_t>(in_flight, 3);
  if (!few[static_cast<std::size_t>(least - 1)] || !few[static_cast<std::size_t>(most - 1)]) {
    std::vector<StepSize> sizes;
    for (std::int64_t count = least; count <= most; ++count)
      sizes.push_back({several_passes ? count + 1 : count, count});
    const std::vector<TrainingSums> sums = training_sums(request_, order_, sizes);
    for (std::size_t s = 0; s < sizes.size(); ++s)
      few[static_cast<std::size_t>(least - 1) + s] = sums[s].peaks;
  }
  if (in_flight <= 3) return *few[static_cast<std::size_t>(in_flight - 1)];
  return few[2]->changed(order_.devices.size(), [&](std::int64_t of_three, std::size_t device) {
    const auto each = static_cast<double>(of_three - (*few[1])[device]);
    const double more = static_cast<double>(in_flight - 3) * each;
    return of_three + static_cast<std::int64_t>(std::min(more, 4e18));
  });
}

}  // namespace sluice
