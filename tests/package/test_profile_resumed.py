#!/usr/bin/python3
"""Tests profiles of a torch module for which several calls of profile_torch, one after the other, measure the rows.
Some of these calls are killed, and some fail."""

import time
import unittest

from profile_case import Clock, Folder, StandIn, Works
from sluice_package import sluice
import torch
from torch import nn


class Resumed(Folder):
    def test_existing_rows_are_not_measured_again(self):
        module = nn.Sequential(Works(0.25), Works(1.0))
        self.worked(module)
        before, text = Clock.now, self.file.read_text()
        done = self.worked(module)
        self.assertEqual((done.measured, done.kept), (0, 3))
        self.assertEqual(Clock.now - before, 1.25)  # the module ran only once, to find its layers
        self.assertEqual(self.file.read_text(), text)

    def test_a_kill_loses_no_row_and_more_rows_may_be_requested_later(self):
        class Killed(Exception):
            pass

        def killing(done, every):
            told.append((done, every))
            if done == 2:
                raise Killed

        told, module = [], nn.Sequential(Works(0.25), Works(1.0))
        with self.assertRaises(Killed):
            self.worked(module, progress=killing)
        self.assertEqual((told, len(self.rows())), ([(1, 3), (2, 3)], 2))
        told.clear()
        done = self.worked(module, caches=("hot", "cold"), cache_bytes=64,
                           progress=lambda *numbers: told.append(numbers))
        self.assertEqual((done.measured, done.kept), (4, 2))
        self.assertEqual(told, [(3, 6), (4, 6), (5, 6), (6, 6)])
        self.assertEqual(len(self.rows(cache="hot")), 3)

    def test_a_kill_between_rounds_loses_no_round(self):
        class Killed(Exception):
            pass

        def killing(done, every):
            if done == 5:
                raise Killed

        module = nn.Sequential(Works(0.25), Works(1.0))
        with self.assertRaises(Killed):
            self.worked(module, rounds=3, progress=killing)
        self.assertEqual([(row["note"], row["seconds_samples"].count(";") + 1) for row in self.rows()],
                         [("2 of 3 rounds", 20), ("2 of 3 rounds", 20), ("1 of 3 rounds", 10)])
        self.assertEqual(self.asked("show", self.file)["measured"], 3)
        told = []
        done = self.worked(module, rounds=3, progress=lambda *numbers: told.append(numbers))
        self.assertEqual((done.measured, done.kept), (3, 0))
        self.assertEqual(told, [(6, 9), (7, 9), (8, 9), (9, 9)])
        self.assertEqual([(row["note"], row["seconds_samples"].count(";") + 1) for row in self.rows()], [("", 30)] * 3)

    def test_all_rows_of_a_file_are_measured_in_the_same_way(self):
        module = nn.Sequential(Works(0.25))
        self.worked(module)
        text = self.file.read_text()
        for change in ({"meter": StandIn()}, {"budget_s": 1.0}, {"rounds": 2}, {"clock": time.perf_counter}):
            with self.subTest(change=change), self.assertRaisesRegex(sluice.InputError, "measured in one way.*another"):
                self.profile(module, torch.zeros(2, 4), **{"clock": Clock.read, **change})
            self.assertEqual(self.file.read_text(), text)
        self.worked(nn.Sequential(Works(1.0)), idle_w=2.0)  # the file may get its idle power later
        self.worked(nn.Sequential(Works(0.5)), idle_w=3.0)
        self.assertEqual(self.asked("show", self.file)["header"]["idle"], "2.0W")

    def test_a_failed_operator_says_why_and_is_tried_again(self):
        module = nn.Sequential(Works(0.25), Works(1.0, calls=9))
        done = self.worked(module, whole=False)
        self.assertEqual((done.measured, done.failed), (1, 1))
        self.assertEqual([row["note"] for row in self.rows(processed="failed")], ["no more"])
        self.assertEqual(self.asked("show", self.file)["failed"], 1)
        Works.left[1.0] = None
        done = self.worked(module, whole=False)
        self.assertEqual((done.measured, done.kept, done.failed), (1, 1, 0))
        self.assertEqual([row["note"] for row in self.rows()], ["", ""])

    def test_a_file_of_another_machine_or_kind_is_not_changed(self):
        for text, words in (("operator\nrelu\n", "is not a profile"),
                            ('# format: sluice-profile/1\n# device: "K40"\noperator\n', "K40.*another file")):
            self.file.write_text(text)
            with self.subTest(text=text), self.assertRaisesRegex(sluice.InputError, words):
                self.worked(nn.Sequential(Works(0.25)))
            self.assertEqual(self.file.read_text(), text)


if __name__ == "__main__":
    unittest.main()
