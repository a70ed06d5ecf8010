#include "cost/part_price.hpp"

namespace sluice {

std::optional<Query> query_of_whole(const Query& query) {
  if (!query.layer || !query.layer->whole) return std::nullopt;
  return query_of(*query.model, *query.layer->whole, query.pass, query.samples, query.dtype,
                  query.device);
}

double share_of_whole(const Query& query) {
  return static_cast<double>(query.layer->output) / static_cast<double>(query.layer->whole->output);
}

Price at_least(Price price, double least_s) {
  if (price.seconds >= least_s) return price;
  if (price.seconds == 0) {
    price.seconds = least_s;
    return price;
  }
  const double factor = least_s / price.seconds;
  for (double Price::*number :
       {&Price::seconds, &Price::measured_s, &Price::joules, &Price::joules_s, &Price::measured_j})
    price.*number *= factor;
  return price;
}

void raise_to(double seconds, std::vector<Grounds>& grounds) {
  double all = 0;
  for (const Grounds& part : grounds) all += part.seconds;
  if (grounds.empty() || all >= seconds) return;
  if (all == 0) {
    grounds.front().seconds = seconds;
    return;
  }
  for (Grounds& part : grounds) part.seconds *= seconds / all;
}

}  // namespace sluice
