// fitted_share: how much of the computation comes from fitted measurements, and how accurate the
// fits are.
#include "cost/account.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

std::string text(const Answered& answered) {
  const Scenario& scenario = answered.scenario;
  return account_text(account_of(*scenario.cost, scenario.model, scenario.platform.devices.front(),
                                 scenario.workload.dtype, scenario.workload.micro_batch,
                                 scenario.workload.training.has_value()));
}

}  // namespace

extern const Note fitted_share_note = {
    .name = "fitted_share",
    .summary =
        "Tells which part of the seconds comes from fitted measurements, and how large their error is "
        "for operators that were not measured.",
    .source = "a fit is valid only for operators like those that were measured",
    .text = text,
};

}  // namespace sluice
