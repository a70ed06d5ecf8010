#!/usr/bin/python3
"""Runs the examples in the help of all commands, in an empty folder outside the repository, with only `sluice` on the
path. docs/reference/commands.md repeats these examples."""

import re
import subprocess
import unittest

from test_docs import COPIES, MAP, PROFILE, SCENARIO, SIZES, TABLE
from test_guide import GUIDE, PROGRAM, in_an_empty_folder

GRAPH = """node1 -- Input -- forward_compute_time=9.0, backward_compute_time=0.0, activation_size=4096.0, parameter_size=0.0
node2 -- Linear(in_features=8, out_features=8, bias=True) -- forward_compute_time=1.5, backward_compute_time=2.5, """ + \
    """activation_size=4096.0, parameter_size=144.0
\tnode1 -- node2
"""

# The files that the examples read.
FILES = {"operators.csv": PROFILE, "before.csv": PROFILE, "after.csv": PROFILE, "monday.csv": PROFILE,
         "tuesday.csv": PROFILE.replace("relu", "tanh"), "gemm_a100_sxm_bf16.csv": PROFILE, "measured.csv": PROFILE,
         "table.csv": TABLE, "columns.yaml": MAP, "copies.csv": COPIES, "sizes.csv": SIZES, "vgg16.graph.txt": GRAPH,
         "scenarios/alexnet_small.yaml": SCENARIO}

# The commands that must run before an example. The key is the beginning of the example.
BEFORE = {
    "sluice show trace.h5": "sluice run alexnet_x200 -o trace.h5 --force",
    "sluice export trace.h5": "sluice run alexnet_x200 -o trace.h5 --force",
    "sluice check scenarios/*.yaml": "sluice check scenarios/*.yaml --baseline tests/golden --update",
    "sluice schema scenario > schemas/": "mkdir -p schemas",
    "sluice completion bash > ~/": "mkdir -p ~/.local/share/bash-completion/completions",
    "sluice profile plan resnet50 --batch 8 -o todo.csv": "rm -f todo.csv",
    "sluice new scenario mine.yaml": "rm -f mine.yaml",
}

# Examples that take long or need large files. The value is the command that the test runs instead.
INSTEAD = {
    "sluice check scenarios/alexnet_x200.yaml --baseline tests/golden --update":
        "sluice check scenarios/alexnet_small.yaml --baseline tests/golden --update",
    "sluice import resnet50.onnx batch=1 -o models/mine.yaml":
        "mkdir -p models; sluice import net.onnx -o models/mine.yaml",
    "sluice profile compare table.csv --between method=simultaneous,single --least 1us":
        "sluice profile compare operators.csv --between cache=hot,cold --least 1us",
}

# Examples whose exit code is not 0. In the only such example, the stages do not fit into the memory, and the message
# says by how much.
EXIT_CODES = {"sluice plan alexnet_x200 'stages={cut: explicit, after: [16]}' --check": 4}

# Examples that this test does not run, each with the reason.
NOT_RUN = {
    "sluice profile cover resnet18.csv --target 90%":
        "it needs the measured operators of a network: tests/command/test_profile.py",
    "sluice profile cover resnet50 measured.csv --whole 42ms":
        "it needs the measured operators of a network: tests/command/test_profile.py",
    "sluice profile fit operators.csv --on t4 -o t4.yaml":
        "it needs hundreds of measured operators: tests/command/test_profile.py",
    "sluice profile fit a.csv b.csv --on 'Tesla T4=t4' --on 'Tesla P100=p100_pcie'":
        "it needs hundreds of measured operators: tests/command/test_profile.py",
}


def helps():
    """Yields the help of the program and of all commands."""
    def text(*words):
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True,
                              env={"COLUMNS": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}).stdout

    yield text("help")
    for name in text("completion", "words", "").split():
        if name in ("help", "version"):
            continue
        own = text("help", name)
        yield own
        if "\nSubcommands:\n" in own:
            for word in text("completion", "words", name, "").split():
                yield text("help", name, word)


def examples(text):
    """Yields the examples of a help text. Examples are indented by two blanks, and remarks about examples by six
    blanks."""
    found = []
    for line in text.partition("\nExamples:\n")[2].partition("\n\n")[0].splitlines():
        words = re.fullmatch(r"  (\S.*)", line)
        if words and re.match(r"sluice |eval ", words[1]):
            found.append(words[1])
        elif words:
            found[-1] += " " + words[1]
    return found


class Commands(unittest.TestCase):
    def test_every_example_runs(self):
        ran = set()

        def use(run):
            for name, text in FILES.items():
                run(f"mkdir -p $(dirname {name}); cat > {name} <<'END'\n{text}END")
            run(re.search(r"cat > net.txt .*?> net.onnx\n", GUIDE.read_text(), re.S)[0])
            for text in helps():
                for example in examples(text):
                    if example in ran or example in NOT_RUN:
                        continue
                    with self.subTest(example=example):
                        for begin, before in BEFORE.items():
                            if example.startswith(begin):
                                run(before)
                        ran.add(example)
                        code = EXIT_CODES.get(example)
                        command = example if ">" in example else f"{{ {INSTEAD.get(example, example)}; }} > /dev/null"
                        run(f"{command} || test $? = {code}" if code else command)

        in_an_empty_folder(use)
        self.assertGreater(len(ran), 45)
        every = {example for text in helps() for example in examples(text)}
        self.assertEqual(set(NOT_RUN) | set(INSTEAD), (set(NOT_RUN) | set(INSTEAD)) & every)


if __name__ == "__main__":
    unittest.main()
