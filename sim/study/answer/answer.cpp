#include "study/answer/answer.hpp"

#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice {

namespace {

Value errors_value(const KnownErrors& errors) {
  if (!(errors.share > 0)) return Value::make_null();
  return object({{"share", errors.share}, {"median", errors.median}, {"ninety", errors.ninety}});
}

Value account_value(const std::optional<Account>& account) {
  if (!account) return Value::make_null();
  Value others = Value::make_map();
  for (const auto& [of, share] : account->others) others.set(of, Value::make(share));
  return object({{"measured", account->measured},
                 {"interpolated", account->interpolated},
                 {"interpolation_error", errors_value(account->interpolation_errors)},
                 {"fitted", account->fitted},
                 {"fitted_inside", account->inside},
                 {"fit_error", errors_value(account->fit_errors)},
                 {"multiple", account->multiple},
                 {"others", others},
                 {"measured_on", list_of(account->measured_on, json_text)}});
}

}  // namespace

Value certainty_value(const Certainty& certainty) {
  return object({{"measured", certainty.measured},
                 {"sourced", certainty.sourced},
                 {"assumed", certainty.assumed},
                 {"figures", list_of(certainty.figures, json_text)},
                 {"computation", account_value(certainty.account)},
                 {"text", certainty_text(certainty)}});
}

Value notes_value(const std::vector<GivenNote>& notes) {
  return list_of(notes, [](const GivenNote& note) {
    return object({{"name", note.name}, {"text", note.text}});
  });
}

std::string answer_json(const Scenario& scenario, const Summary& summary,
                        const std::vector<GivenNote>& notes) {
  return to_json(object({{"asked", asked_value(scenario)},
                         {"certainty", certainty_value(certainty_of(scenario, summary))},
                         {"notes", notes_value(notes)}}),
                 0);
}

}  // namespace sluice
