#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a piece of work costs, by a clock that stands in: no torch is needed.

    slopes_test.py TOOLS
"""
import sys
import unittest

sys.path.insert(0, f"{sys.argv[1]}/torch")
from twin import slopes  # noqa: E402

SIZES = 10, 30


class Clock:
    """Time that passes only when work says so."""

    def __init__(self):
        self.now = 0.0
        self.works = 0

    def __call__(self):
        return self.now

    def trial_of(self, cost, fixed=0.0, preparing=0.0, disturbed=lambda work: 0.0):
        """Trials that take `fixed` and `cost` a piece, and what `disturbed` adds to the nth work."""
        def trial(size):
            def prepare():
                self.now += preparing

                def work():
                    self.works += 1
                    self.now += fixed + cost * size + disturbed(self.works)
                return work
            return prepare
        return trial


class Slope(unittest.TestCase):
    def slope(self, **trial):
        clock = Clock()
        return slopes.slope(clock.trial_of(**trial), SIZES, repeats=21, clock=clock).median, clock

    def test_is_the_cost_of_a_piece_without_what_both_sizes_cost(self):
        found, _ = self.slope(cost=3e-6, fixed=5e-3)
        self.assertAlmostEqual(found, 3e-6, places=12)

    def test_preparing_is_not_timed(self):
        found, _ = self.slope(cost=3e-6, preparing=1.0)
        self.assertAlmostEqual(found, 3e-6, places=9)

    def test_work_that_costs_nothing_has_no_slope(self):
        self.assertEqual(self.slope(cost=0.0, fixed=0.0)[0], 0.0)

    def test_a_few_slow_trials_change_nothing(self):
        found, _ = self.slope(cost=3e-6, disturbed=lambda work: 1.0 if work % 7 == 0 else 0.0)
        self.assertAlmostEqual(found, 3e-6, places=9)

    def test_both_sizes_are_tried_alike_and_warm_ups_before(self):
        _, clock = self.slope(cost=1e-6)
        self.assertEqual(clock.works, 2 * (slopes.WARM_UPS + 21))

    def test_of_several_pieces_is_shared(self):
        clock = Clock()
        found = slopes.slope(clock.trial_of(cost=3e-6), SIZES, pieces=2, repeats=21, clock=clock)
        self.assertAlmostEqual(found.median, 1.5e-6, places=12)

    def test_beyond_another_is_what_it_costs_more(self):
        clock = Clock()
        found = slopes.slope_beyond(clock.trial_of(cost=5e-6, fixed=1e-3), clock.trial_of(cost=3e-6), SIZES, pieces=2, repeats=21,
                                    clock=clock)
        self.assertAlmostEqual(found.median, 1e-6, places=12)


class Interval(unittest.TestCase):
    def test_is_that_of_order_statistics(self):
        # Ranks 19 and 33 of 51: each tail of the binomial distribution of 51 throws below rank 19 holds 2.4 %.
        found = slopes.estimate(range(51, 0, -1))
        self.assertEqual(found, (26, 19, 33))

    def test_of_few_values_is_all_of_them(self):
        self.assertEqual(slopes.estimate([3.0, 1.0]), (2.0, 1.0, 3.0))


class Text(unittest.TestCase):
    def test_is_what_the_option_takes(self):
        costs = {"call": slopes.Estimate(3.2104e-6, 3e-6, 3.4e-6), "gather": slopes.Estimate(9.87e-6, 9e-6, 1e-5)}
        self.assertEqual(slopes.text_of(costs), "call:3.21us,gather:9.87us")
        self.assertEqual(list(slopes.lines_of(costs))[0], "call: 3.21 us [3 .. 3.4]")

    def test_below_the_noise_is_nothing_and_is_said(self):
        costs = {"ddp-hook": slopes.Estimate(2e-7, -1e-7, 5e-7)}
        self.assertEqual(slopes.text_of(costs), "ddp-hook:0us")
        self.assertIn("below the noise", list(slopes.lines_of(costs))[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
