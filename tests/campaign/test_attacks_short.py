#!/usr/bin/python3
"""Runs a few fixed attacks of the campaign: kills, signals, limits, mutants and extreme values."""

import os
import pathlib
import sys
import unittest

try:
    import attacks
    import mutants
    import run as campaign
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class ShortCampaign(unittest.TestCase):
    def hold(self, kind, times):
        _, done, faults = campaign.attack(kind, 17, 0, times)
        self.assertEqual(faults, [], "\n".join(faults))
        self.assertEqual(done, times)

    def test_commands_that_are_ended_at_any_moment_lose_nothing(self):
        self.hold("kills", 40)

    def test_under_any_limit_it_answers_or_names_what_is_missing(self):
        self.hold("limits", 25)

    def test_mutants_of_all_inputs_are_read_or_refused(self):
        self.hold("mutants", 150)

    def test_an_extreme_value_of_any_number_is_answered_or_refused_at_its_place(self):
        self.hold("extremes", 40)

    def test_unchanged_inputs_are_read(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            for name, data, commands in mutants.seeds_of_mutants(folder):
                (pathlib.Path(folder) / name).write_bytes(data)
                for command in commands:
                    done = attacks.sluice(folder, *command)
                    self.assertIn(done.returncode, (0, 3) if name in ("m.onnx", "m.graph.txt") else (0,),
                                  (command, done.stderr))


if __name__ == "__main__":
    if not os.path.exists(attacks.PROGRAM):
        print(f"skipped: there is no {attacks.PROGRAM}; SLUICE_PROGRAM names the program")
        sys.exit(77)
    unittest.main(verbosity=2)
