#include "study/answer/answer.hpp"

#include "document/load.hpp"
#include "document/object.hpp"

namespace sluice {

Value certainty_value(const Certainty& certainty) {
  return object({{"measured", certainty.measured},
                 {"sourced", certainty.sourced},
                 {"assumed", certainty.assumed},
                 {"figures", list_of(certainty.figures, json_text)},
                 {"text", certainty_text(certainty)}});
}

Value notes_value(const std::vector<GivenNote>& notes) {
  return list_of(notes, [](const GivenNote& told) {
    return object({{"name", told.name}, {"text", told.text}});
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
