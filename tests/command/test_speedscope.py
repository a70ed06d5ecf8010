#!/usr/bin/python3
"""Opens exported traces in Speedscope itself, in a headless Chromium. Speedscope must print no complaint. It must read
every span with its stream, name and times.

The test needs node, Chromium, and the packages of `npm install speedscope puppeteer-core`. The variable
SPEEDSCOPE_MODULES names the folder node_modules of the packages. By default, the test takes the packages of `npm
install -g`. CHROMIUM may name the browser. If a program or package is missing, the test is skipped. SPEEDSCOPE_PICTURES
names a folder for pictures, for a person to look at.
"""

import base64
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest


def modules():
    """Returns the folder of node's packages. The folder need not exist."""
    if named := os.environ.get("SPEEDSCOPE_MODULES"):
        return pathlib.Path(named)
    npm = shutil.which("npm")
    done = subprocess.run([npm, "root", "-g"], capture_output=True, text=True) if npm else None
    return pathlib.Path(done.stdout.strip() if done and done.returncode == 0 else "/nowhere")


NODE, MODULES = shutil.which("node"), modules()
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
PAGE = MODULES / "speedscope/dist/release/index.html"
if not (NODE and CHROMIUM and PAGE.exists() and (MODULES / "puppeteer-core").exists()):
    print("skipped: there is no node, Chromium, speedscope or puppeteer-core")
    sys.exit(77)

import test_chrome_readers as readers

PICTURES = os.environ.get("SPEEDSCOPE_PICTURES")
OPEN = pathlib.Path(__file__).with_name("open_in_speedscope.js")


def opened(text, folder, name):
    """Returns the messages on Speedscope's console, and the spans that it has read."""
    script = folder / "trace.js"
    script.write_text(f'speedscope.loadFileFromBase64("t.json", "{base64.b64encode(text.encode()).decode()}")\n')
    picture = [pathlib.Path(PICTURES).resolve() / f"{name}.png"] if PICTURES else []
    done = subprocess.run([NODE, OPEN, CHROMIUM, PAGE, script, *picture], capture_output=True, text=True, timeout=180,
                          env={**os.environ, "NODE_PATH": str(MODULES)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["saved"], answer["said"]
    return answer["said"], json.loads(answer["saved"])


def since_first(spans):
    """Returns the spans with the times that Speedscope gives them. These times count from the start of the stream's
    first span. Spans that begin and end in the same nanosecond are left out, because Speedscope does not export
    them."""
    first = {}
    for device, stream, _, begin, _ in spans:
        first[device, stream] = min(begin, first.get((device, stream), begin))
    for device, stream, action, begin, end in spans:
        if begin < end:
            yield device, stream, action, begin - first[device, stream], end - first[device, stream]


class Speedscope(unittest.TestCase):
    def test_it_reads_every_span_and_warns_of_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for run, words in readers.RUNS.items():
                with self.subTest(run=run):
                    readers.Chrome.sluice("run", *words, "-o", folder / "t.h5", "--force")
                    text = readers.Chrome.sluice("export", folder / "t.h5", "--to", "chrome")
                    said, read = opened(text, folder, run.replace(" ", "_"))
                    self.assertEqual([line for line in said if line["kind"] not in ("log", "timeEnd")], [])
                    shown = collections.Counter(span for span in self.spans(read) if span[3] < span[4])
                    expected = collections.Counter(since_first(readers.Trace(folder / "t.h5").spans))
                    self.assertEqual(sorted((shown - expected).items())[:3], [])
                    self.assertEqual(sorted((expected - shown).items())[:3], [])

    def spans(self, read):
        """Returns the spans as (device, stream, action, begin, end) in nanoseconds. Checks that a thread has at most
        one open span at a time."""
        for thread in read["profiles"]:
            device, stream = re.fullmatch(r"(.*) \(pid \d+\), (.*) \(tid \d+\)", thread["name"]).groups()
            self.assertEqual((thread["type"], thread["unit"]), ("evented", "microseconds"))
            events = thread["events"]
            self.assertEqual([event["type"] for event in events], ["O", "C"] * (len(events) // 2))
            for begin, end in zip(events[::2], events[1::2]):
                self.assertEqual(begin["frame"], end["frame"])
                action = read["shared"]["frames"][begin["frame"]]["name"].split(" {")[0]
                yield device, stream, action, *(round(1000 * event["at"]) for event in (begin, end))


if __name__ == "__main__":
    unittest.main(verbosity=2)
