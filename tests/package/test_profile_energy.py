#!/usr/bin/python3
"""Tests joules in profiles of torch modules. Instead of a real meter, the tests use a stand-in that returns known
joules."""

import unittest

from profile_case import Clock, Folder, StandIn, Works
from sluice_package import sluice
from torch import nn
from sluice import _measuring, meters


class Energy(Folder):
    def test_the_joules_of_a_row_equal_the_joules_of_the_meter(self):
        # A call takes 3 W for 1 s, which is 3 J. The meter may be wrong by one step of 1/8 J at the beginning and at
        # the end, together 0.25 J. This error may be at most 1 % of the measured joules. So at least 25 J must be
        # measured. Eight calls take only 24 J, so nine calls are measured.
        self.worked(nn.Sequential(Works(1.0)), whole=False, meter=StandIn(), idle_w=2.0, budget_s=10.0)
        row = self.rows()[0]
        self.assertEqual((row["joules_mean"], row["joules_error"]), ("3.0", repr(0.25 / 9)))
        shown = self.asked("show", self.file)
        self.assertEqual((shown["with_energy"], shown["header"]["how"]["meter"], shown["header"]["idle"]),
                         (1, "stand_in", "2.0W"))

    def test_if_the_budget_ends_the_error_gives_the_uncertainty(self):
        self.worked(nn.Sequential(Works(1.0)), whole=False, meter=StandIn(8.0), budget_s=0.4)
        # The joules are measured for at most 10 times the budget of 0.4 s. In these 4 s, 4 calls of 1 s run. The meter
        # may be wrong by two steps of 8 J, which are 16 J for the 4 calls together. So the joules of a call are
        # uncertain by 4 J.
        self.assertEqual(self.rows()[0]["joules_error"], "4.0")

    def test_joules_of_preparations_are_not_counted_for_the_calls(self):
        def prepare(calls):
            Clock.now += 5.0  # the seconds that stand for clearing the cache

            def run():
                Clock.now += calls

            return run

        for most_calls in (None, 4):
            with self.subTest(most_calls=most_calls):
                subject = _measuring.Subject(prepare, lambda: None, most_calls=most_calls)
                found = _measuring.measure(subject, _measuring.Loop(budget_s=20.0, sample_s=4.0, clock=Clock.read,
                                                                    meter=StandIn()))
                # A call takes 3 W for 1 s, which is 3 J.
                # With most_calls=None, 4 calls are prepared once and then repeated. The meter may be wrong by two steps
                # of 1/8 J, together 0.25 J. This error may be at most 1 % of the measured joules. So at least 25 J must
                # be measured. Four calls take 12 J, and eight calls take only 24 J. So 12 calls are measured.
                # With most_calls=4, the joules of preparations are subtracted. For this, samples are taken in blocks,
                # which form 5 pairs. One block of a pair has preparations and calls, and the other block has only
                # preparations. The 10 blocks share 10 times the budget of 20 s, so a block has enough samples for 20 s.
                # A sample takes 5 s to prepare and 4 s for its 4 calls. Two samples take only 18 s, so a block has 3
                # samples with 12 calls. Each block of a pair may be wrong by two steps of 1/8 J. So the joules of 12
                # calls are uncertain by four steps, together 0.5 J.
                self.assertEqual((found.joules, found.joules_error),
                                 (3.0, 0.25 / 12) if most_calls is None else (3.0, 0.5 / 12))

    def test_if_a_call_cannot_be_told_from_noise_there_are_no_joules(self):
        subject = _measuring.Subject(lambda calls: lambda: None, lambda: None, most_calls=4)
        found = _measuring.measure(subject, _measuring.Loop(budget_s=1e-9, sample_s=0, meter=StandIn()))
        self.assertEqual((found.joules, found.joules_error), (None, None))

    def test_idle_power_is_joules_per_second(self):
        def sleep(seconds):
            Clock.now += seconds

        self.assertEqual(meters.idle_watts(StandIn(), 4.0, Clock.read, sleep), 3.0)

    def test_rapl_sums_packages_and_handles_counter_overflow(self):
        for package, energy in ((0, 900_000), (1, 5)):
            (self.folder / f"intel-rapl:{package}").mkdir()
            (self.folder / f"intel-rapl:{package}/max_energy_range_uj").write_text("999999\n")
            (self.folder / f"intel-rapl:{package}/energy_uj").write_text(f"{energy}\n")
        # This counter counts the cores of package 0. The counter of the package counts them, too, so the sum must leave
        # this counter out.
        (self.folder / "intel-rapl:0:0").mkdir()
        meter = meters.Rapl(str(self.folder))
        (self.folder / "intel-rapl:0/energy_uj").write_text("400000\n")
        (self.folder / "intel-rapl:1/energy_uj").write_text("250005\n")
        self.assertEqual(meter.joules(), 0.75)
        with self.assertRaisesRegex(sluice.IoError, "no RAPL"):
            meters.Rapl(str(self.folder / "none"))


if __name__ == "__main__":
    unittest.main()
