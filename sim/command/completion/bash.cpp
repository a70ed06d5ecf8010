// The command `sluice completion` prints the script with which a shell completes command lines of `sluice`. The script
// asks the program for the words that may follow. So the script does not change when commands, options or keys change.
#include "command/command.hpp"
#include "command/completion/completion.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

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
