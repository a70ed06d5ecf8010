#!/usr/bin/python3
"""Writes docs/reference/ from what `sluice` says about its own catalogs, keys and commands. There is one page for each
catalog, and one page each for the keys of a scenario, the commands, and the exit codes.

    reference.py PROGRAM FOLDER           writes the pages
    reference.py PROGRAM FOLDER --check   names the pages that are not current; if there are any, exits with 1
"""

import json
import pathlib
import re
import subprocess
import sys

TITLES = {
    "policies": ("Policies", "policy: {name: …}", "The rules by which a scenario becomes a plan."),
    "layers": ("Layer types", "layers: [{type: …}]", "The operators of which a model consists. The examples are lines of a"
               " model document ([models/FORMAT.md](../../models/FORMAT.md)); `sluice model FILE` prints the"
               " layers, parameters and operations of such a document."),
    "costs": ("Cost models", "cost: {model: …}", "How long an operator takes on a device."),
    "cuts": ("Cuts", "stages: {cut: …}", "How a model is divided into stages."),
    "fates": ("Fates of activations", "fates: {strategy: …}",
              "What becomes of an activation until the backward pass needs it."),
    "optimizers": ("Optimizers", "workload: {optimizer: …}", "The rules that update the weights in training."),
    "metrics": ("Metrics", "`sluice run --json`", "The numbers that an answer holds. Each example is a command in "
                                                  "whose answer the metric has a value."),
}

# The exit codes of `sluice help`: why a command ends with this code, and what to do.
EXIT_CODES = {
    0: "The command has done everything. If the command ran a scenario, the scenario fits.",
    1: "`sluice check` found something worse than its baseline (accept a change that is wanted with `--update`);"
       " `sluice profile compare` found profiles that do not agree; `sluice profile cover` found less than the target; or"
       " some points of a sweep or a search failed. The output says what was found.",
    2: "The command line is wrong: a command or an option is unknown, or an argument is missing. The message names the "
       "help to read.",
    3: "A document or a value is wrong. The message names file, line, column, key and value, and what was allowed. The "
       "same code is for a plan whose waits form a cycle, because such a plan is refused when it is read.",
    4: "The question is valid, but the run is not possible: the memory is too small (\"out of memory\"), or actions"
       " wait for each other for ever (\"blocked for ever\"). The message says how many bytes an action needs, which "
       "tensors hold the memory, and what each action waits for. Try what the message proposes, a smaller batch, another "
       "policy (`policy=streamed`) or other fates; `sluice fits` says how many samples fit.",
    5: "A file cannot be found, read or written, or the disk is full. The message names the file.",
    70: "This is a fault of Sluice, and never of the input. Please report the command with its documents.",
    130: "Control-C (SIGINT) ended the command. Files are written as a whole or not at all; a store keeps the points "
         "that were complete.",
    143: "SIGTERM ended the command. Files and stores are as after Control-C.",
}


def output(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True,
                          env={"COLUMNS": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}).stdout


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def parameter_rows(parameters):
    yield "| parameter | takes | default | meaning |"
    yield "|---|---|---|---|"
    for parameter in parameters:
        takes = parameter["type"]
        if parameter["choices"] and not takes.startswith("one of"):
            takes += " or " + ", ".join(parameter["choices"])
        default = "required" if parameter["required"] else parameter["default"] or ""
        yield f"| `{parameter['name']}` | {cell(takes)} | {cell(default)} | {cell(parameter['summary'])} |"


def example_text(example):
    """Returns the text that a page shows for an example. If the example is a command, this is the command itself. If it
    is a layer, this is a line of a model's document."""
    return example if example.startswith("sluice ") else f"layers: [{example}]"


def entry_lines(entry):
    yield f"## {entry['name']}"
    yield entry["summary"]
    yield ""
    if entry.get("details"):
        yield entry["details"]
        yield ""
    if entry.get("unit"):
        yield f"Unit: {entry['unit']}."
        yield ""
    if entry.get("parameters"):
        yield from parameter_rows(entry["parameters"])
        yield ""
    if entry.get("example"):
        yield f"    {example_text(entry['example'])}"
        yield ""
    if entry.get("source"):
        yield f"Source: {entry['source']}."
        yield ""


def catalog_page(program, kind):
    title, key, what = TITLES[kind]
    yield f"# {title}"
    yield f"{what} In a scenario: `{key.strip('`')}`." if kind not in ("layers", "metrics") else what
    yield f"`./dev docs` writes this page from the records that `sluice list {kind} -v` prints."
    yield ""
    for entry in json.loads(output(program, "list", kind, "--json")):
        yield from entry_lines(entry)


def takes_of(schema):
    """Returns a few words for the values of a key or parameter."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(filter(None, map(takes_of, schema["anyOf"]))))
    if "enum" in schema:
        words = [str(word).lower() for word in schema["enum"]]
        return "true or false" if words[:2] == ["true", "false"] else ", ".join(words)
    kind = schema.get("type", "")
    if isinstance(kind, list):
        return "text"
    return {"string": "text", "object": "mapping", "array": "list"}.get(kind, kind)


def mapping_of(schema):
    """Returns the mapping that a key takes. Some keys also take a word."""
    for one in schema.get("anyOf", [schema]):
        if one.get("properties"):
            return one
    return {}


def key_rows(properties):
    yield "| key | takes | default | meaning |"
    yield "|---|---|---|---|"
    for key, schema in properties.items():
        default = json.dumps(schema["default"]).strip('"') if "default" in schema else ""
        yield f"| `{key}` | {cell(takes_of(schema))} | {cell(default)} | {cell(schema.get('description', ''))} |"
    yield ""


def keys_page(program):
    yield "# Keys of a scenario"
    yield ("`./dev docs` writes this page from the records that `sluice schema scenario` prints."
           " [scenarios/FORMAT.md](../../scenarios/FORMAT.md) explains the keys.")
    yield ""
    properties = json.loads(output(program, "schema", "scenario"))["properties"]
    yield from key_rows(properties)
    for key in "workload", "memory":
        yield f"## {key}"
        yield mapping_of(properties[key]).get("description", "")
        yield ""
        yield from key_rows(mapping_of(properties[key])["properties"])
    yield ("The keys of `policy`, `stages`, `fates` and `cost` depend on the policy, the cut, the strategy and the "
           "cost model that the scenario chooses: [policies](policies.md),"
           " [cuts](cuts.md), [fates of activations](fates.md), [cost models](costs.md).")


def command_words(program):
    for name in output(program, "completion", "words", "").split():
        if name in ("help", "version"):
            continue
        yield [name]
        if "\nSubcommands:\n" in output(program, "help", name):
            for word in output(program, "completion", "words", name, "").split():
                yield [name, word]


def without_exit_codes(text):
    """Returns the help of a command without the list of exit codes. This list is the same for all commands."""
    return text.partition("\nExit codes:\n")[0].rstrip()


def commands_page(program):
    yield "# Commands"
    yield ("This page shows what `sluice help` and `sluice help COMMAND` print; `./dev docs` writes this page."
           " A SCENARIO or PLAN of `-` comes from standard input. Data goes to standard output, messages to standard error."
           " Tables are at most as wide as the terminal, or as COLUMNS says. `./dev man` makes man pages, and `eval \"$(sluice completion bash)\"` "
           "makes bash"
           " complete commands, names and keys. Each command ends with one of the [exit codes](exit_codes.md).")
    yield ""
    yield from ("```text", without_exit_codes(output(program, "help")), "```", "")
    for words in command_words(program):
        yield f"## sluice {' '.join(words)}"
        yield from ("```text", without_exit_codes(output(program, "help", *words)), "```", "")


def exit_codes_page(program):
    """Returns the page of the exit codes. EXIT_CODES must have exactly the codes of `sluice help`."""
    listed = output(program, "help").partition("\nExit codes:\n")[2]
    words = {int(code): " ".join(text.split())
             for codes, text in re.findall(r"(?:^|(?<=  ))(\d+(?:, \d+)*)  (\S+(?: \S+)*)", listed, re.M)
             for code in codes.split(", ")}
    if set(words) != set(EXIT_CODES):
        sys.exit(f"reference.py explains the exit codes {sorted(EXIT_CODES)}, but `sluice help` lists {sorted(words)}")
    yield "# Exit codes"
    yield "Each command ends with one of these codes. `sluice help` lists the codes with a few words for each code."
    yield ""
    for code, text in sorted(words.items()):
        yield f"## {code}"
        yield f"{text[0].upper()}{text[1:]}. {EXIT_CODES[code]}"
        yield ""


def pages(program):
    for kind in TITLES:
        yield f"{kind}.md", "\n".join(catalog_page(program, kind)).rstrip() + "\n"
    yield "scenario.md", "\n".join(keys_page(program)).rstrip() + "\n"
    yield "commands.md", "\n".join(commands_page(program)).rstrip() + "\n"
    yield "exit_codes.md", "\n".join(exit_codes_page(program)).rstrip() + "\n"


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    check = "--check" in sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, text in pages(program):
        path = folder / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.write_text(text)
    if check and stale:
        print(f"these pages differ from what the program says: {', '.join(stale)}; run ./dev docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
