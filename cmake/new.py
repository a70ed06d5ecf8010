#!/usr/bin/python3
"""./dev new KIND NAME adds an entry to a catalog: one new file, and one line in the catalog's list.

The file begins as a working copy of a short entry of its kind, under the new name. So the program builds and passes the
tests at once. If a kind has only long entries, cmake/new/KIND.cpp is its short example.
"""

import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Kind:
    folder: str  # where the new file goes
    catalog: str  # the file with the list of entries
    record: str  # the C++ type of an entry
    suffix: str  # the ending of the entry's identifier, which is NAME_suffix
    example: str  # the file that is copied
    entry: str  # the name of the entry that is copied, in the file `example`
    also: tuple = ()  # the steps that remain for the author


SCHEMAS = "run ./dev docs, which writes the schemas and docs/reference with the new entry"
REFERENCE = "run ./dev docs, which writes docs/reference with the new entry"
KINDS = {
    "policy": Kind("sim/policy", "sim/policy/catalog.cpp", "Policy", "policy",
                   "sim/policy/basic.cpp", "basic",
                   (SCHEMAS,)),
    "layer": Kind("sim/model/layers", "sim/model/catalog.cpp", "LayerType", "layer",
                  "sim/model/layers/dense.cpp", "dense",
                  (SCHEMAS, "add a row to each of the two tables of formulas in models/FORMAT.md")),
    "cost": Kind("sim/cost", "sim/cost/catalog.cpp", "CostModel", "cost",
                 "sim/cost/peak.cpp", "peak", (SCHEMAS,)),
    "cut": Kind("sim/stage", "sim/stage/catalog.cpp", "Cut", "cut",
                "sim/stage/whole.cpp", "whole", (SCHEMAS,)),
    "metric": Kind("sim/metrics/kinds", "sim/metrics/catalog.cpp", "Metric", "metric",
                   "sim/metrics/kinds/makespan.cpp", "makespan_s",
                   ("give the metric's unit at the end of its name (_s, _bytes, _j) and in .unit",
                    "run ./dev accept, which writes the new metric into the goldens", REFERENCE)),
    "fate": Kind("sim/fates", "sim/fates/catalog.cpp", "FateStrategy", "fates",
                 "sim/fates/uniform.cpp", "keep_all", (SCHEMAS,)),
    "optimizer": Kind("sim/workload/optimizers", "sim/workload/catalog.cpp", "Optimizer",
                      "optimizer", "sim/workload/optimizers/sgd.cpp", "sgd", (SCHEMAS,)),
    "importer": Kind("sim/model", "sim/model/catalog.cpp", "Importer", "importer",
                     "cmake/new/importer.cpp", "example",
                     ("give the ending of the importer's files in .ending", "add a section to models/FORMAT.md")),
    "export": Kind("sim/trace/export", "sim/trace/export/catalog.cpp", "ExportFormat", "export",
                   "sim/trace/export/csv.cpp", "csv", (REFERENCE,)),
    "command": Kind("sim/command", "sim/command/catalog.cpp", "Command", "command",
                    "cmake/new/command.cpp", "example", (REFERENCE,)),
}


def die(message):
    sys.exit(f"dev new: {message}")


def with_line(text, kind, identifier):
    """Returns the catalog with a new SLUICE_ENTRY(...) after the last entry of its type. The new line is indented like
    the line of this entry."""
    entries = list(re.finditer(rf"^( *)SLUICE_ENTRY\({kind.record}, \w+\),\n", text, re.M))
    if not entries:
        die(f"{kind.catalog} has no line SLUICE_ENTRY({kind.record}, …) to follow")
    last = entries[-1]
    line = f"{last.group(1)}SLUICE_ENTRY({kind.record}, {identifier}),\n"
    return text[: last.end()] + line + text[last.end():]


def without_other_entries(text, kind):
    """Returns the text of the example's file without the records of other entries."""
    keep = f"{kind.entry}_{kind.suffix}"
    pattern = rf"extern const {kind.record} (\w+)(?:;\nconst {kind.record} \1)? = \{{\n.*?\n\}};\n\n?"
    return re.sub(pattern, lambda match: match.group(0) if match.group(1) == keep else "", text,
                  flags=re.S)


def copy_of_example(kind, name):
    text = without_other_entries((ROOT / kind.example).read_text(), kind)
    text = re.sub(r"\A(//.*\n)*", "", text)
    identifier = f"{kind.entry}_{kind.suffix}"
    if identifier not in text:
        die(f"{kind.example} has no record {identifier}")
    text = re.sub(rf"\b{identifier}\b", f"{name}_{kind.suffix}", text)
    text = text.replace(f'"{kind.entry}"', f'"{name}"')
    strings = r'(?:\s*"(?:[^"\\\n]|\\.)*")+'
    text = re.sub(rf"\.summary ={strings}", f'.summary = "Say in one sentence what {name} is."', text,
                  count=1)
    text = re.sub(rf"\.details ={strings}",
                  f'.details =\n        "Say what {name} does, when to use it, and what it costs. "\n'
                  '        "With this text, people choose among the entries."', text, count=1)
    text = re.sub(rf"\.source ={strings}", '.source = "Say where it comes from: paper, section."', text,
                  count=1)
    text = re.sub(rf'(\.example =\s.*[=\s]){kind.entry}\b', rf"\g<1>{name}", text, count=1)
    # If the line of `.example` would exceed 100 columns, the value gets a line of its own.
    text = re.sub(r"^( *\.example =) (.{86,})$", r"\1\n        \2", text, count=1, flags=re.M)
    text = text.replace('".example"', f'".{name}"')  # the ending of an importer's files
    text = text.replace(f'"sluice {kind.entry} ', f'"sluice {name} ')  # the examples of a command
    return (f"// {name}: say in one sentence what it does, and where it comes from.\n"
            f"// This file begins as a copy of {kind.example}: change the code below.\n" + text)


def main(arguments):
    if len(arguments) != 2:
        die(f"usage: ./dev new KIND NAME, where KIND is one of {', '.join(KINDS)}")
    word, name = arguments
    if word not in KINDS:
        die(f"unknown kind '{word}'; known: {', '.join(KINDS)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        die(f"'{name}' is not a name: a small letter comes first, then small letters, digits and _")
    kind = KINDS[word]
    file, catalog = ROOT / kind.folder / f"{name}.cpp", ROOT / kind.catalog
    identifier = f"{name}_{kind.suffix}"
    if file.exists() or re.search(rf"\b{identifier}\b", catalog.read_text()):
        die(f"{word} '{name}' exists already")
    text, listed = copy_of_example(kind, name), with_line(catalog.read_text(), kind, identifier)
    file.write_text(text)
    catalog.write_text(listed)
    print(f"made {file.relative_to(ROOT)}, a working copy, and a line in {kind.catalog}; next:",
          file=sys.stderr)
    for step in ("change the copy, and say in its first lines what the entry is", *kind.also,
                 "add a case that you compute by hand to tests/hand, and run ./dev test"):
        print(f"  - {step}", file=sys.stderr)


main(sys.argv[1:])
