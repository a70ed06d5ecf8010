// The command `sluice completion` prints the script with which a shell completes command lines of `sluice`. The script
// asks the program for the words that may follow. So the script does not change when commands, options or keys change.
#include <algorithm>
#include <set>

#include "command/command.hpp"
#include "command/terminal.hpp"
#include "document/bundled.hpp"
#include "model/model.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

using Words = std::vector<std::string>;

struct Completions {
  std::vector<std::string> words;  ///< the possible words that begin with the last word of the line
  bool files = false;              ///< whether names of files are also possible
};

bool begins(const std::string& word, const std::string& with) {
  return word.compare(0, with.size(), with) == 0;
}

/// Offers the words that begin with `typed`. The text `before` is put in front of each offered word.
void offer(Completions& completions, const Words& words, const std::string& typed,
           const std::string& before = {}) {
  for (const std::string& word : words)
    if (begins(word, typed)) completions.words.push_back(before + word);
}

const Option* option_named(const Command& command, const std::string& word) {
  for (const Option& option : command.options)
    if (word == "--" + option.name || (option.letter && word == std::string{'-', option.letter}))
      return &option;
  return nullptr;
}

Words option_words(const Command& command) {
  Words words = {"--help"};
  for (const Option& option : command.options) words.push_back("--" + option.name);
  return words;
}

/// Offers the values of an option. If the option takes a list A,B,C, offers words for the element after the last comma.
/// If the option has no list of values, the shell completes names of files.
void offer_value(Completions& completions, const Option& option, const std::string& typed,
                 const std::string& before) {
  const Words words = option.suggested ? option.suggested() : option.allowed();
  const std::size_t comma = option.suggested ? typed.rfind(',') : std::string::npos;
  const std::size_t begin = comma == std::string::npos ? 0 : comma + 1;
  offer(completions, words, typed.substr(begin), before + typed.substr(0, begin));
  completions.files = option.allowed().empty();
}

// --- KEY=VALUE -----------------------------------------------------------------------------------

/// The keys of overrides. Each key has the words that may be its value.
class Keys {
 public:
  void add(const std::string& key, const Words& values = {}) {
    if (seen_.insert(key).second) all_.push_back({key, values});
  }

  void add(const std::string& way, const Field& field) {
    Words values = field.choices;
    if (field.type == Type::boolean) values = {"true", "false"};
    add(way + field.name, values);
  }

  /// Adds a key for each value of the document: the names on the path to the value, joined by dots.
  void add_present(const Value& value, const std::string& way) {
    if (!value.is_map()) return add(way);
    for (const Value::Entry& entry : value.entries())
      add_present(entry.value, way + "." + entry.key);
  }

  void offer_to(Completions& completions, const std::string& typed) const {
    const std::size_t equals = typed.find('=');
    for (const auto& [key, values] : all_) {
      if (equals == std::string::npos)
        offer(completions, {key + "="}, typed);
      else if (key == typed.substr(0, equals))
        offer(completions, values, typed.substr(equals + 1), key + "=");
    }
  }

 private:
  std::set<std::string> seen_;
  std::vector<std::pair<std::string, Words>> all_;
};

void add_model(Keys& keys, const Value& use, const std::string& way) {
  const Value* definition = use.find("definition");
  const Value* parameters = definition ? definition->find("parameters") : nullptr;
  if (parameters)
    for (const Value::Entry& entry : parameters->entries()) keys.add(way + entry.key);
  keys.add(way + "scale");
}

/// Returns the words that a user may write instead of the mapping of this key. A word is the name of a bundled
/// document, or the value of one key of the mapping. For example, `policy=streamed` means `policy.name=streamed`.
Words words_for(const Field& field) {
  if (field.name == "model" || field.name == "platform") return bundled_names(field.name + "s");
  for (const Field& inner : field.record->fields)
    if (inner.name == field.word_for) return inner.choices;
  return {};
}

void add_record(Keys& keys) {
  for (const Field& field : scenario_record().fields) {
    if (field.type != Type::mapping) continue;
    if (!field.word_for.empty()) keys.add(field.name, words_for(field));
    if (field.name == "model" || field.name == "platform" || field.name == "policy") continue;
    for (const Field& inner : field.record->fields) keys.add(field.name + ".", inner);
  }
}

void add_scenario(Keys& keys, const std::string& file_or_name) {
  add_record(keys);
  const Scenario scenario = load_scenario(find_document(file_or_name, "scenarios"), {});
  for (const Field& field : scenario.policy->parameters) keys.add("policy.", field);
  keys.add("policy.name", policy_catalog().names());
  if (const Value* model = scenario.document.find("model")) add_model(keys, *model, "model.");
  for (const Value::Entry& entry : scenario.document.find("platform")->entries())
    if (entry.value.is_map()) keys.add_present(entry.value, "platform." + entry.key);
}

Keys keys_of(const Command& command, const Words& positionals) {
  Keys keys;
  try {
    if (positionals.empty()) return keys;
    if (command.names_folder == "scenarios") {
      add_scenario(keys, positionals.front());
    } else {
      const std::string path = find_document(positionals.front(), "models");
      add_model(keys, load_model_use(path, {}), "");
      if (command.name == "fits") add_record(keys);
    }
  } catch (const Error&) {
    // The document cannot be read. So its keys are not offered.
  }
  return keys;
}

// --- a command -----------------------------------------------------------------------------------

/// Returns the positional arguments before the last word. Options, values of options, and overrides are not positional
/// arguments.
Words positionals_of(const Command& command, const Words& words) {
  Words positionals;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const Option* option = option_named(command, words[i]);
    if (option && !option->value.empty()) ++i;
    if (option || begins(words[i], "-") || words[i].find('=') != std::string::npos) continue;
    positionals.push_back(words[i]);
  }
  return positionals;
}

Completions completions_of(const Command& command, const Words& words) {
  Completions completions;
  const std::string& typed = words.back();
  const Option* option = option_named(command, words[words.size() - 2]);
  if (words.size() > 2 && option && option->changes) {
    keys_of(command, positionals_of(command, words)).offer_to(completions, typed);
    return completions;
  }
  if (words.size() > 2 && option && !option->value.empty()) {
    offer_value(completions, *option, typed, "");
    return completions;
  }
  const std::size_t equals = typed.find('=');
  if (begins(typed, "--") && equals != std::string::npos) {
    if (const Option* one = option_named(command, typed.substr(0, equals)))
      offer_value(completions, *one, typed.substr(equals + 1), typed.substr(0, equals + 1));
    return completions;
  }
  if (begins(typed, "-")) {
    offer(completions, option_words(command), typed);
    return completions;
  }
  const Words positionals = positionals_of(command, words);
  if (positionals.size() < command.most && equals == std::string::npos) {
    if (!command.names_folder.empty())
      offer(completions, bundled_names(command.names_folder), typed);
    if (command.names) offer(completions, command.names(), typed);
    completions.files = !command.names || positionals.size() >= command.least;
  }
  if (command.overrides && positionals.size() >= command.least)
    keys_of(command, positionals).offer_to(completions, typed);
  return completions;
}

Completions completions_of_subcommands(const Command& command, const Words& words) {
  Completions completions;
  if (words.size() == 2) {
    offer(completions, subcommand_words(command), words.back());
    return completions;
  }
  const Command* chosen = command.subcommands().find_or_null(command.name + " " + words[1]);
  return chosen ? completions_of(*chosen, {words.begin() + 1, words.end()}) : completions;
}

Words command_words() {
  Words words = command_catalog().names();
  words.insert(words.end(), {"help", "version"});
  return words;
}

/// Returns the words that may replace the last element of `words`. This element may be empty or the start of a word.
/// Parameter `words` does not contain the program's name. If `words` has errors, the result is empty.
Completions completions_of(const std::vector<std::string>& words) {
  Completions completions;
  if (words.size() < 2) {
    const std::string typed = words.empty() ? "" : words.back();
    offer(completions, begins(typed, "-") ? Words{"--help", "--version"} : command_words(), typed);
    return completions;
  }
  if (words.front() == "help") {
    const Command* command = command_catalog().find_or_null(words[1]);
    if (words.size() == 2)
      offer(completions, command_catalog().names(), words.back());
    else if (words.size() == 3 && command && command->subcommands)
      offer(completions, subcommand_words(*command), words.back());
    return completions;
  }
  const Command* command = command_catalog().find_or_null(words.front());
  if (command && command->subcommands) return completions_of_subcommands(*command, words);
  return command ? completions_of(*command, words) : completions;
}

constexpr const char* bash_script = R"bash(# Completes the command lines of 'sluice'.
# To use this script in this shell only:
#   eval "$(sluice completion bash)"
# To use this script in every shell:
#   sluice completion bash > ~/.local/share/bash-completion/completions/sluice
_sluice() {
  local line=${COMP_LINE:0:COMP_POINT} words word
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local typed=${words[-1]}
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $word == :files ]]; then
      compopt -o filenames
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$typed")
    else
      COMPREPLY+=("$word")
    fi
  done < <("${words[0]}" completion words "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  # Bash treats the text before a '=' as a separate word.
  if [[ $typed == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${typed%=*}="}")
  fi
}
complete -F _sluice sluice
)bash";

int run_completion(const Arguments& arguments) {
  const std::string shell = arguments.positionals.empty() ? "" : arguments.positionals.front();
  if (shell == "words") {
    const Completions completions =
        completions_of({arguments.positionals.begin() + 1, arguments.positionals.end()});
    std::string text;
    for (const std::string& word : completions.words) text += word + "\n";
    print(text + (completions.files ? ":files\n" : ""));
    return 0;
  }
  if (shell != "bash" || arguments.positionals.size() > 1)
    throw UsageError(
        "completion exists only for bash; use 'sluice completion bash'"
        "\nSee 'sluice help completion'.");
  print(bash_script);
  return 0;
}

}  // namespace

extern const Command completion_command = {
    .name = "completion",
    .summary = "Prints a script with which bash completes the command lines of 'sluice'.",
    .usage = {"bash"},
    .least = 1,
    .most = 1,
    .positionals = "bash",
    .names = [] { return std::vector<std::string>{"bash"}; },
    .verbatim = true,
    .details =
        "The script completes commands, options and the values of options. It also completes names of models, "
        "platforms and scenarios, keys of KEY=VALUE, and values that are words. The script asks the program for these "
        "words, so you can use the script with newer versions of the program.\n",
    .examples = {{"eval \"$(sluice completion bash)\"", "for this shell"},
                 {"sluice completion bash > ~/.local/share/bash-completion/completions/sluice",
                  "for every shell"}},
    .run = run_completion,
};

}  // namespace sluice
