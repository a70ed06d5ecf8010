#include "base/fit_search.hpp"

#include <cmath>

namespace sluice {

namespace {

/// So many guesses in a row may leave more than half of what there was to search.
constexpr int patience = 2;

}  // namespace

void FitSearch::said(const FitAnswer& answer) {
  if (answer.fits)
    fitted();
  else
    refused(answer);
}

/// The next one, then ever further ones, until one does not fit; never more than half the way to
/// one that is known not to.
void FitSearch::fitted() {
  good_ = next_;
  const std::int64_t most = bad_ == 0 ? limit_ : good_ + (bad_ - good_) / 2;
  next_ = within(good_ > most - step_ ? most : good_ + step_);
  if (step_ < limit_ / 4) step_ *= 4;
}

/// Where a line through the last two that did not fit says that the limit is; through the only one,
/// and nothing at all, it says where it is at the most.
void FitSearch::refused(const FitAnswer& answer) {
  const bool slow = bad_ != 0 && next_ - good_ > (bad_ - good_) / 2;
  slow_ = slow ? slow_ + 1 : 0;
  bad_ = next_;
  step_ = 1;
  const Refused here{static_cast<double>(bad_), answer.needed};
  const Refused before = last_;
  last_ = here;
  const bool known = answer.needed > answer.available;
  if (!known || slow_ > patience) {
    next_ = within(good_ + (bad_ - good_) / 2);
    return;
  }
  const bool two = before.number > here.number && before.needed > here.needed;
  const double each = two ? (before.needed - here.needed) / (before.number - here.number)
                          : here.needed / here.number;
  const double about = here.number - (here.needed - answer.available) / each;
  next_ = within(static_cast<std::int64_t>(std::floor(std::max(0.0, about) + 1e-6)));
}

}  // namespace sluice
