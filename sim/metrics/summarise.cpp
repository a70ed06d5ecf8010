// Computes all metrics of a run, and values that several metrics have.
#include "metrics/metric.hpp"

namespace sluice {

SummaryValue by_link(const Plan& plan, const std::vector<double>& numbers) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t l = 0; l < numbers.size(); ++l)
    keyed.push_back({{plan.links[l].name}, numbers[l]});
  return SummaryValue::of(std::move(keyed));
}

SummaryValue by_class(const Totals::ByClass<double>& numbers) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t c = 0; c < numbers.size(); ++c)
    if (numbers[c] > 0)
      keyed.push_back({{std::string(name_of(static_cast<TensorClass>(c)))}, numbers[c]});
  return SummaryValue::of(std::move(keyed));
}

Summary summarise(const Totals& totals) {
  Summary summary;
  for (const Metric* metric : metric_catalog().entries())
    summary.metrics.push_back({metric->name, metric->unit, metric->summary, metric->value(totals)});
  return summary;
}

}  // namespace sluice
