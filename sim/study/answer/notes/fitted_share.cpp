// The note fitted_share says how much of the computation comes from fitted or interpolated measurements, and how
// accurate these measurements are.
#include "study/answer/asked.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

std::string text(const AnsweredScenario& answered) {
  return account_text(account_of(answered.scenario));
}

}  // namespace

extern const Note fitted_share_note = {
    .name = "fitted_share",
    .summary =
        "Tells which part of the seconds comes from fitted or interpolated measurements, and how large the error is "
        "for operators that were not measured. The note also tells which part of the seconds is a multiple of the "
        "seconds of forward passes.",
    .source = "measurements are valid only for operators like those that were measured",
    .text = text,
};

}  // namespace sluice
