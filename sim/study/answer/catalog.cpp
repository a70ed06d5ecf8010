// The catalog of notes. To add a note, add a file in notes/ and a line here. An answer has its notes in the order of
// this list.
#include "study/answer/note.hpp"

namespace sluice {

// clang-format off
const Catalog<Note>& note_catalog() {
  static const Catalog<Note> catalog("note", {
      SLUICE_ENTRY(Note, recomputed_for_nothing_note),
      SLUICE_ENTRY(Note, idle_device_note),
      SLUICE_ENTRY(Note, unused_memory_note),
      SLUICE_ENTRY(Note, second_memory_note),
      SLUICE_ENTRY(Note, no_idle_watts_note),
      SLUICE_ENTRY(Note, measured_batch_note),
      SLUICE_ENTRY(Note, more_steps_note),
      SLUICE_ENTRY(Note, fitted_share_note),
      SLUICE_ENTRY(Note, measured_on_note),
  });
  return catalog;
}
// clang-format on

std::vector<GivenNote> notes_of(const AnsweredScenario& answered) {
  std::vector<GivenNote> notes;
  for (const Note* note : note_catalog().entries())
    if (std::string text = note->text(answered); !text.empty())
      notes.push_back({note->name, std::move(text)});
  return notes;
}

}  // namespace sluice
