// Computes all metrics of a run.
#include "metrics/metric.hpp"

namespace sluice {

Summary summarise(const Totals& totals) {
  Summary summary;
  for (const Metric* metric : metric_catalog().entries())
    summary.metrics.push_back({metric->name, metric->unit, metric->summary, metric->value(totals)});
  return summary;
}

}  // namespace sluice
