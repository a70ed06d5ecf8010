#!/usr/bin/python3
"""Makes the pictures of the README, beside this file, for light and for dark pages:
./dev python analysis/pictures/make_pictures.py"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import sluice  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent


def alexnet_x200():
    """Who did what when, and what lay in memory: seed 000's question to the real card."""
    result = sluice.load("alexnet_x200").run()
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.4), sharex=True, layout="constrained",
                                         height_ratios=[1, 1.6])
    seconds = result.metrics.makespan_s
    result.plot.timeline(ax=top, title="A model 200 times AlexNet on a card of 24 GB: "
                                       f"900 inferences in {seconds:.2f} s")
    result.plot.memory(ax=bottom, title="What lies in the card's memory")
    return figure


def main():
    for picture in (alexnet_x200,):
        for ending, style in (("", "default"), ("_dark", "dark_background")):
            path = FOLDER / f"{picture.__name__}{ending}.png"
            with plt.style.context(style):
                # README shows it 900 dots wide; a fine screen has two for one. A dark page is not black.
                picture().savefig(path, dpi=200, transparent=ending != "", metadata={"Software": None})
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
