// The catalog of metrics. To add a metric, add a file in kinds/ and a line here. An answer lists the metrics in the
// order of this catalog.
#include "metrics/metric.hpp"

namespace sluice {

// clang-format off
const Catalog<Metric>& metric_catalog() {
  static const Catalog<Metric> catalog("metric", {
      SLUICE_ENTRY(Metric, makespan_s_metric),
      SLUICE_ENTRY(Metric, samples_metric),
      SLUICE_ENTRY(Metric, throughput_samples_per_s_metric),
      SLUICE_ENTRY(Metric, first_step_s_metric),
      SLUICE_ENTRY(Metric, step_s_metric),
      SLUICE_ENTRY(Metric, steady_throughput_samples_per_s_metric),
      SLUICE_ENTRY(Metric, compute_s_metric),
      SLUICE_ENTRY(Metric, compute_s_by_stage_metric),
      SLUICE_ENTRY(Metric, measured_share_metric),
      SLUICE_ENTRY(Metric, compute_utilisation_metric),
      SLUICE_ENTRY(Metric, bubble_fraction_metric),
      SLUICE_ENTRY(Metric, transfer_s_metric),
      SLUICE_ENTRY(Metric, transfer_s_by_link_metric),
      SLUICE_ENTRY(Metric, transfer_s_by_class_metric),
      SLUICE_ENTRY(Metric, full_rate_s_by_link_metric),
      SLUICE_ENTRY(Metric, transferred_bytes_metric),
      SLUICE_ENTRY(Metric, transferred_bytes_by_link_metric),
      SLUICE_ENTRY(Metric, transferred_bytes_by_class_metric),
      SLUICE_ENTRY(Metric, exposed_transfer_s_metric),
      SLUICE_ENTRY(Metric, recompute_s_metric),
      SLUICE_ENTRY(Metric, recompute_overhead_metric),
      SLUICE_ENTRY(Metric, offloaded_bytes_metric),
      SLUICE_ENTRY(Metric, training_over_inference_metric),
      SLUICE_ENTRY(Metric, peak_bytes_metric),
      SLUICE_ENTRY(Metric, peak_bytes_by_class_metric),
      SLUICE_ENTRY(Metric, overflow_bytes_metric),
      SLUICE_ENTRY(Metric, flop_metric),
      SLUICE_ENTRY(Metric, arithmetic_intensity_metric),
      SLUICE_ENTRY(Metric, energy_j_metric),
      SLUICE_ENTRY(Metric, energy_j_by_device_metric),
      SLUICE_ENTRY(Metric, energy_j_by_link_metric),
      SLUICE_ENTRY(Metric, energy_per_sample_j_metric),
      SLUICE_ENTRY(Metric, lower_bound_s_metric),
      SLUICE_ENTRY(Metric, bound_ratio_metric),
      SLUICE_ENTRY(Metric, bound_by_metric),
      SLUICE_ENTRY(Metric, question_bound_s_metric),
      SLUICE_ENTRY(Metric, question_ratio_metric),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
