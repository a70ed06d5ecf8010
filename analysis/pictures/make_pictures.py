#!/usr/bin/python3
"""Makes the pictures of README.md and docs/results.md, for light and for dark pages, and writes them to this folder:
./dev python analysis/pictures/make_pictures.py"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import sluice  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent


def alexnet_x200():
    """Draws the run of the scenario alexnet_x200: the actions of each stream, and the contents of the card's memory."""
    result = sluice.load("alexnet_x200").run()
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.4), sharex=True, layout="constrained",
                                         height_ratios=[1, 1.6])
    seconds = result.metrics.makespan_s
    result.plot.timeline(ax=top, title="A model 200 times AlexNet on a card of 24 GB: "
                                       f"900 inferences in {seconds:.2f} s")
    result.plot.memory(ax=bottom, title="Contents of the card's memory")
    return figure


def vgg16_fates():
    """Draws the contents of memory in three trainings of VGG-16, on common axes. Each training makes room for the
    activations in another way."""
    training = sluice.Scenario.from_dict({
        "model": "vgg16", "platform": "gtx980", "policy": "resident",
        "workload": {"mode": "training", "batch": 20, "optimizer": "adam"}})
    runs = {fates: training.with_({"fates.strategy": fates}).run() for fates in ("sqrt", "offload_all", "optimal")}
    return sluice.compare(runs).plot.memory(figsize=(9, 5))[0].figure


def for_a_column():
    """Draws a picture that fits a column of a paper."""
    with sluice.paper(columns=1):
        return sluice.load("alexnet_x200_training", {"workload.batch": 30}).run().plot.memory().figure


def main():
    for picture in (alexnet_x200, vgg16_fates, for_a_column):
        for ending, style in (("", "default"), ("_dark", "dark_background")):
            path = FOLDER / f"{picture.__name__}{ending}.png"
            with plt.style.context(style):
                # README.md shows the picture 900 CSS pixels wide, and a screen of high resolution uses two pixels per
                # CSS pixel. The picture for dark pages is transparent, because the background of such a page is not
                # quite black.
                picture().savefig(path, dpi=200, transparent=ending != "", metadata={"Software": None})
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
