#!/usr/bin/python3
"""Makes the pictures of the README, beside this file: ./dev python analysis/pictures/make_pictures.py"""

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
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.6), sharex=True, layout="constrained",
                                         height_ratios=[1, 1.6])
    seconds = result.metrics.makespan_s
    result.plot.timeline(ax=top, title="A model 200 times AlexNet on a card of 24 GB: "
                                       f"900 inferences in {seconds:.2f} s")
    result.plot.memory(ax=bottom, title="What lies in the card's memory")
    top.set_xlabel("")
    return figure


def main():
    for picture in (alexnet_x200,):
        path = FOLDER / f"{picture.__name__}.png"
        picture().savefig(path, dpi=100, metadata={"Software": None})
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
