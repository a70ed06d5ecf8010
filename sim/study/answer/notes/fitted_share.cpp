// The note `fitted_share` says which share of the seconds of computation was fitted to measurements or interpolated
// between measurements. It also says how accurate the fit or the interpolation is.
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
        "Tells which part of the seconds comes from fitted or interpolated measurements. Tells how large the error is "
        "for operators that were not measured. Tells which part of the seconds is a multiple of the seconds of "
        "forward passes.",
    .source = "measurements are valid only for operators like those that were measured",
    .text = text,
};

}  // namespace sluice
