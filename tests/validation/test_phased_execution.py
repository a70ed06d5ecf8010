"""Compares the numbers of the page analysis/validation/popart_phased_execution.md with exact arithmetic, and with the
output of Sluice."""
import json
import os
import re
import subprocess
import sys
import unittest
from fractions import Fraction as F

PROGRAM = os.environ.get("SLUICE_PROGRAM")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = open(os.path.join(ROOT, "analysis", "validation", "popart_phased_execution.md"), encoding="utf-8").read()

BATCH, SIZE, LAYERS, BATCHES, STEPS = 32, 250, 3, 100, 5
RATE = F(250 * 10**12) * F(1472 - 128, 1472)
LINK = F(32 * 10**9)
PAIR = F(160 * 10**9)
FLOP = 2 * BATCH * SIZE**3
WEIGHTS = 2 * SIZE**2
C, W, A = FLOP / RATE, WEIGHTS / LINK, 2 * BATCH * SIZE**2 / LINK
PHASES = LAYERS * BATCHES * STEPS


def makespan(scenario, *overrides):
    answer = subprocess.run([PROGRAM, "run", os.path.join(ROOT, "scenarios", scenario + ".yaml"), "--json",
                             *overrides], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)["metrics"]["makespan_s"]


def row(quantity):
    """Returns the cells of the row that begins with the cell `quantity`, without this first cell."""
    found = re.search(rf"^\| {re.escape(quantity)} \|(.*)\|$", PAGE, re.M)
    assert found, quantity
    return found.group(1).split("|")


class PopARTPhasedExecution(unittest.TestCase):
    def check(self, quantity, expected, measured):
        self.assertAlmostEqual(measured / float(expected), 1, delta=1e-9)
        self.assertEqual(f"{float(expected) * 1e3:.6g}", row(quantity)[-1].strip())

    def test_the_page_has_the_counts_of_the_arithmetic(self):
        self.assertEqual(str(FLOP), row("FLOP per phase")[1].strip())
        self.assertEqual(str(WEIGHTS), row("bytes of weights per phase")[1].strip())
        self.assertEqual(str(FLOP // WEIGHTS), row("FLOP per byte of weights")[1].strip())
        sizes = [d for d in range(1, 1000) if 3750 <= BATCH * d <= 7500]
        self.assertEqual(f"{sizes[0]} to {sizes[-1]}", row("sizes inside the band at b = 32")[1].strip())

    def test_runs_without_inputs_and_answers_take_the_seconds_of_the_arithmetic(self):
        weights_only = "policy.host_data=synthetic"
        self.check("overlapped, compute binds", W + PHASES * C, makespan("phased_ipu_pair", weights_only))
        self.check("serial", PHASES * (W + C),
                   makespan("phased_ipu_pair", weights_only, "policy.overlap=false"))
        self.check("both IPUs at once, one host link, the link binds", PHASES // 2 * 2 * W + C,
                   makespan("data_parallel_ipu_pair", weights_only))
        self.check("both IPUs at once, a private link each", W + PHASES // 2 * C,
                   makespan("data_parallel_ipu_pair", weights_only, "platform.links.host.sharing=private"))

    def test_runs_with_inputs_and_answers_take_the_seconds_of_the_arithmetic(self):
        # In each phase, the computation takes C seconds, and the load of the weights takes W seconds. A transfer of an
        # input or an answer takes A seconds. The model has 3 layers, and each layer is one phase. In phased execution,
        # two devices take turns with these phases. The transfers repeat in periods of three phases. The first phase
        # loads weights and then an input, in W + A. The second phase loads weights and saves an answer at the same
        # time, in the longer of W and A. The third phase only loads weights, in W. Each phase takes at least C. The
        # first input is loaded before all other transfers, and the last answer is saved after all phases.
        batches = BATCHES * STEPS
        self.check("phased, one batch at a time", (W + A) + batches * (max(W, C) + max(W, C) + max(W + A, C))
                   + (batches - 1) * (max(W, A, C) - max(W, C)) - (max(W + A, C) - C) + A,
                   makespan("phased_ipu_pair", "policy.in_flight=1"))
        # Here, two batches take turns. So an input is loaded while an earlier answer is saved. The run takes at least
        # the seconds in which all inputs and weights cross the link from the host. The transfers at the beginning and
        # at the end of the run add seconds that no computation hides. There is no formula for these seconds.
        measured = makespan("phased_ipu_pair")
        self.assertGreater(measured, float(batches * (A + LAYERS * W)))
        self.assertLess(measured, 1.02 * float(batches * (A + LAYERS * W)))
        self.assertEqual(f"{measured * 1e3:.6g}", row("phased")[-1].strip())
        # Sharded execution loads all weights first, and then one input after the other. After the last input, three
        # products and one transfer to the other device are still to come. Then the last answer is saved.
        crossing = BATCH * SIZE**2 * 2 / PAIR
        self.check("sharded", LAYERS * W + batches * A + LAYERS * C + crossing + A,
                   makespan("sharded_ipu_pair"))


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit(77)
    unittest.main()
