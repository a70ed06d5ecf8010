#include "study/fits/fits.hpp"

#include <cmath>

#include "base/error.hpp"
#include "study/fits/card.hpp"
#include "study/fits/request.hpp"

namespace sluice {
namespace {

/// Estimates the share of a card's work that is done after `questions` plans. A card rarely needs more than 40 plans,
/// for which the estimate is 0.985.
double share_after(int questions) {
  return 1 - std::pow(0.9, questions);
}

CardFit card_of(const FitsRequest& request, Scenario scenario, std::size_t number) {
  const std::size_t all = std::max<std::size_t>(1, request.platforms.size());
  int questions = 0;
  const auto on_answer = [&] {
    const double done = static_cast<double>(number) + share_after(++questions);
    if (request.progress) request.progress(done / static_cast<double>(all));
  };
  return Card(std::move(scenario), on_answer).answer(request.batch);
}

/// Returns the result for a platform for which the question cannot be asked: its name and the error.
CardFit refused(const Value& platform, const InputError& error) {
  CardFit fit;
  const Value* name = platform.find("name");
  if (name && name->is_scalar()) fit.platform = name->text();
  fit.error = error.what();
  return fit;
}

}  // namespace

FitsReport fits(const FitsRequest& request) {
  if (request.batch && (*request.batch < 1 || *request.batch > most_samples))
    throw InputError("'" + std::to_string(*request.batch) +
                     "' for 'batch': expected an integer from 1 to " +
                     std::to_string(most_samples));
  std::vector<Value> platforms = request.platforms;
  if (platforms.empty()) platforms.push_back(unlimited_platform(request.dtype));
  FitsReport report;
  std::optional<InputError> first_error;
  bool answered = false;
  for (std::size_t number = 0; number < platforms.size(); ++number) {
    const Value platform = platforms[number];
    try {
      Scenario scenario = scenario_of(request, platform);
      report.model = scenario.model.name;
      report.measured_batch = Card::measured_batch(scenario);
      if (scenario.workload.training)
        report.optimizer = scenario.workload.training->optimizer->name;
      report.cards.push_back(card_of(request, std::move(scenario), number));
      answered = true;
    } catch (const InputError& error) {
      report.cards.push_back(refused(platform, error));
      if (!first_error)
        first_error = error.noted("of platform '" + report.cards[number].platform + "'");
    }
  }
  if (!answered) throw *first_error;
  return report;
}

}  // namespace sluice
