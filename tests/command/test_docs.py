#!/usr/bin/python3
"""Runs the commands of all pages in an empty folder outside the repository, with only `sluice` on the path. Four pages
or folders have tests of their own: README.md (test_readme.py), docs/guide.md (test_guide.py), docs/words.md
(test_words.py) and docs/reference/ (test_reference.py, test_commands.py)."""

import pathlib
import re
import shlex
import unittest

from test_guide import GUIDE, ROOT, in_an_empty_folder

PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("sim/**/FORMAT.md")), *sorted(ROOT.glob("*/FORMAT.md")),
         ROOT / "examples/README.md", ROOT / "CONTRIBUTING.md", ROOT / "analysis/validation/README.md"]
TESTED_ELSEWHERE = ("guide.md", "words.md")

# Matches a fenced block with its language, an indented block, or a command within a sentence.
COMMANDS = re.compile(r"^```(?P<language>\w*)\n(?P<fenced>(?:.*\n)*?)^```|^(?P<indented>(?: {4}.*\n)+)"
                      r"|`(?P<inline>sluice [^`]+)`", re.M)

# Words in commands that stand for a file or a number. The value is what the test puts in the place of the word.
NAMES = {"S": "scenario.yaml", "SCENARIO": "scenario.yaml", "PLAN": "small.plan", "P": "operators.csv", "A": "operators.csv", "B": "again.csv",
         "ALL": "all.csv", "TABLE": "operators.csv", "TABLE.csv": "operators.csv", "MODEL": "resnet18", "KIND": "scenario",
         "PLATFORM": "a100_pcie", "DIR/trace.h5": "trace.h5",
         "PROFILE": "operators.csv", "N": "8"}

PROFILE = """# format: sluice-profile/1
# device: a100_pcie
# defaults: {dtype: float32, pass: forward}
operator,config,inputs,batch,cache,seconds_mean
relu,relu,32x96x55x55,1,hot,0.0003
relu,relu,32x96x55x55,1,cold,0.0004
"""

COPIES = """# format: sluice-profile/1
# device: a100_pcie
operator,sizes,input_pools,output_pools,seconds_mean
copy,bytes=1000000,pinned,device,0.0001
copy,bytes=100000000,pinned,device,0.0045
copy,bytes=1000000,device,pinned,0.0001
copy,bytes=100000000,device,pinned,0.0044
"""

# A profile of one class of operators in several sizes, whose seconds are in proportion to the bytes.
SIZES = """# format: sluice-profile/1
# device: a100_pcie
# defaults: {dtype: float32, pass: forward}
operator,config,inputs,batch,seconds_mean
relu,relu,32x10000,32,0.00001
relu,relu,32x100000,32,0.0001
relu,relu,32x1000000,32,0.001
relu,relu,32x3000000,32,0.003
"""

# A table of another program, and the map that says what its columns mean.
TABLE = "op,time\nrelu,2\nadd,3\n"
MAP = """format: sluice-profile-map/1
header: {device: a100_pcie}
columns: {operator: op, seconds_mean: {column: time, unit: ms}}
"""

SCENARIO = """format: sluice-scenario/1
model: {file: matmul_chain}
platform: rtx4090
workload: {mode: inference, dtype: float16, batch: 8, steps: 4}
stages: {cut: by_weight, groups: 12}
policy: {name: streamed, resident: none}
"""

# The commands that must run before another command. The key is this other command.
BEFORE = {
    "sluice check scenarios/*.yaml --baseline tests/golden":
        "sluice check scenarios/*.yaml --baseline tests/golden --update",
    "sluice show trace.h5": "sluice run alexnet_resident -o trace.h5",
    "sluice sweep --merge part*.db --store study.db":
        "for k in 1 2; do sluice sweep my.yaml workload.batch=1,2 --shard $k/2 --store part$k.db; done",
    "sluice sweep --merge a.db b.db --store all.db":
        "for name in a b; do sluice sweep my.yaml workload.batch=1,2 --store $name.db; done",
    "sluice import net.onnx -o models/net.yaml": "mkdir -p models",
    "sluice run small.plan": "sluice plan scenario.yaml -o small.plan --force",
    "sluice profile plan resnet50 --batch 8 -o todo.csv": "rm -f todo.csv",
    "sluice profile compare operators.csv again.csv": "cp operators.csv again.csv",
    "sluice profile merge operators.csv again.csv -o all.csv": "cp operators.csv again.csv",
}

# Commands that take minutes or need missing files. The value is a shorter command for the same part of the program. If
# there is none, the value is None, and a comment says why.
SHORTER = {
    "sluice placement analysis/validation/vgg416_optane.yaml --fast 10%..100%":
        "sluice placement small.yaml --fast 10%..100% --ways static",
    # The command needs measurements of every layer in each of the two memories. tests/command/test_placement.py makes
    # such a profile.
    "sluice placement scenario.yaml cost.model=measured": None,
    # The command needs tables that are published elsewhere. tests/validation/test_fitted.py fits some of these tables.
    "sluice profile fit neusight_linear.csv": None,
    "sluice profile show operators.csv --interpolate": "sluice profile show sizes.csv --interpolate a100_pcie",
    "sluice profile show operators.csv --map MAP.yaml": "sluice profile show table.csv --map MAP.yaml",
    "sluice profile link operators.csv": "sluice profile link copies.csv",
    'sluice sweep my.yaml platform.links.host.bandwidth=8GB/s..128GB/s:200':
        "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=200 SLURM_CPUS_PER_TASK=1; sluice sweep my.yaml"
        " platform.links.host.bandwidth=8GB/s..128GB/s:200 workload.batch=1..64*2"
        ' --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --jobs "$SLURM_CPUS_PER_TASK"'
        ' --store "part$SLURM_ARRAY_TASK_ID.db"',
}

# Commands whose exit code is not 0, as their page says.
EXIT_CODES = {'sluice run alexnet_x200 "stages={cut: explicit, after: [16]}"': 4}


def commands_of(page):
    """Yields the commands of a page, each in one line and without its comment. A line may
    pipe the output of another program into sluice, such as `sed … | sluice sweep -`. Such a line is yielded as a
    whole."""
    for found in COMMANDS.finditer(page.read_text()):
        if found["inline"]:
            yield " ".join(found["inline"].split())
            continue
        if found["language"] in ("python", "yaml", "json"):
            continue
        lines = (found["fenced"] or found["indented"]).replace("\\\n", " ").split("\n")
        for line in lines:
            line = " ".join(line.strip().removeprefix("$ ").split())
            if line.startswith("sluice ") or "| sluice " in line:
                yield re.sub(r" #.*$", "", line)


def is_mention(command):
    """Returns whether a page only mentions the command, like `sluice run --json`. A mention has an ellipsis, or has
    options as its only arguments. The test does not run a mention."""
    return all(word.startswith("-") for word in command.split()[1:] if word not in SUBCOMMANDS) or "…" in command \
        or "..." in command.split()


SUBCOMMANDS = {"check", "fits", "import", "list", "model", "new", "placement", "plan", "profile", "run", "schema",
               "search", "show", "sweep", "help", "link", "fit", "cover", "compare", "merge", "scenario",
               "layers", "github", "json", "completion", "export"}


def with_names(command):
    return " ".join(NAMES.get(word, word) for word in command.split(" "))


class Docs(unittest.TestCase):
    maxDiff = None

    def prepare(self, run):
        for name, text in {"operators.csv": PROFILE, "before.csv": PROFILE, "after.csv": PROFILE, "again.csv": PROFILE,
                           "copies.csv": COPIES, "sizes.csv": SIZES, "table.csv": TABLE, "MAP.yaml": MAP,
                           "scenario.yaml": SCENARIO, "my.yaml": SCENARIO, "resnet50.yaml": SCENARIO,
                           "scenarios/small.yaml": SCENARIO, "scenarios/alexnet_small.yaml": SCENARIO,
                           "small.yaml": SCENARIO.replace("policy: {", "cost: {model: roofline}\npolicy: {")}.items():
            run(f"mkdir -p $(dirname {name}); cat > {name} <<'END'\n{text}END")
        run("sluice plan scenario.yaml -o small.plan")
        # Writes the network of the guide, but with a name instead of a number as the extent of the batch.
        network = re.search(r"cat > net.txt .*?> net.onnx\n", GUIDE.read_text(), re.S)[0]
        run(network.replace("dim { dim_value: 1 }", 'dim { dim_param: "batch" }', 1))

    def runs(self, run, command):
        command = with_names(command)
        for begin, shorter in SHORTER.items():
            if command.startswith(begin):
                if shorter is None:
                    return
                command = shorter
        # The program finds most documents that a page names. It does not find those in analysis/validation, because
        # they are only in the repository. So the test inserts their paths.
        command = command.replace("analysis/validation/", f"{ROOT}/analysis/validation/")
        if command in BEFORE:
            run(BEFORE[command])
        code = EXIT_CODES.get(command, 0)
        run(f"{command} > /dev/null || test $? = {code}" if code else f"{command} > /dev/null")

    def names_what_there_is(self, run, command):
        words = [word for word in shlex.split(command)[1:] if re.fullmatch(r"[a-z]+", word)]
        known = words[:2] if words[0] == "profile" else words[:1]
        text = run(f"sluice help {' '.join(known)}")
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", command):
            self.assertRegex(text, rf"(?<![\w-]){option}(?![\w-])", command)

    def test_every_command_of_every_page(self):
        ran = []

        def use(run):
            self.prepare(run)
            for page in PAGES:
                if page.name in TESTED_ELSEWHERE:
                    continue
                for command in dict.fromkeys(commands_of(page)):
                    with self.subTest(page=str(page.relative_to(ROOT)), command=command):
                        if is_mention(command):
                            self.names_what_there_is(run, command)
                        else:
                            self.runs(run, command)
                            ran.append(command)

        in_an_empty_folder(use)
        self.assertGreater(len(ran), 50)


if __name__ == "__main__":
    unittest.main()
