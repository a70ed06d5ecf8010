"""Mutants of all inputs that the program reads. A mutant is a valid input with random changes. The inputs are
documents, platforms, profiles, maps of tables, fits, stage tables, plans, models of other programs, traces, baselines
with their plans, and stores."""

import csv
import io
import pathlib
import re
import zlib

from attacks import CHECK, ROOT, RUN, SWEEP, sluice

MEASURED = """format: sluice-scenario/1
model: cnn_mnist
platform: k40
workload: {mode: inference, batch: 4}
stages: whole
policy: resident
"""
STREAMED = """format: sluice-scenario/1
model: alexnet
platform: {file: m.yaml}
workload: {batch: 2, batches_per_step: 3}
"""
HOST = """format: sluice-scenario/1
model: {file: m.json}
platform: rx7900xtx_pair
workload: {batch: 2, batches_per_step: 3}
policy: streamed
"""
TABLE_MAP = """format: sluice-profile-map/1
header: {device: T4, source: made up}
repeats: pooled
columns:
  operator: {text: linear}
  config: {column: op, until: "("}
  sizes: {b: b, m: m, n: n, k: k}
  flop: {expression: 2 * $b * $m * $n * $k}
  dtype: {text: float32}
  processed: {text: "yes"}
each:
- {cache: {text: hot}, seconds_median: {column: hot_us, unit: us}}
- {cache: {text: cold}, seconds_median: {column: cold_us, unit: us}}
"""
COPIES = """# format: sluice-profile/1
# name: copies
# defaults: {operator: copy, output_pools: device}
sizes,input_pools,method,seconds_samples
bytes=1000000,pinned,queued,1e-4;1.1e-4
bytes=8000000,pinned,queued,7e-4;7.1e-4
bytes=1000000,pageable,queued,2e-4;2.2e-4
bytes=8000000,pageable,queued,15e-4;16e-4
bytes=1000000,pinned,single,2e-4
bytes=8000000,pinned,single,8e-4
"""


def spoilt_text(data, choice):
    """Replaces some numbers and words of a text, and removes, repeats, replaces or exchanges some lines. Returns the
    new text. The changes are few, so the new text is often still a valid document."""
    text = data.decode(errors="replace")
    for _ in range(choice.choice([1, 1, 2, 4])):
        lines = text.splitlines(keepends=True)
        numbers = list(re.finditer(r"(?<![A-Za-z_])\d+(\.\d+)?", text))
        words = list(re.finditer(r"[A-Za-z_]{2,}", text))
        kind = choice.randrange(5)
        if kind < 2 and numbers:
            found = choice.choice(numbers)
            number = choice.choice(["0", "-1", "1", "2", "0.5", "7", "1000", "1e308", "1e-308", "nan", "4294967296",
                                    "9223372036854775807", "18446744073709551616", "", "[1, 2]", "$x"])
            text = text[:found.start()] + number + text[found.end():]
        elif kind == 2 and words:
            found, other = choice.choice(words), choice.choice(words)
            text = text[:found.start()] + other.group() + text[found.end():]
        elif kind == 3 and lines:
            at = choice.randrange(len(lines))
            lines[at:at + 1] = choice.choice([[], [lines[at], lines[at]], [choice.choice(lines)]])
            text = "".join(lines)
        elif lines:
            one, other = choice.randrange(len(lines)), choice.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
            text = "".join(lines)
    return text.encode()


def spoilt(data, choice):
    """Returns the bytes with some bytes changed, removed or repeated, or with the end cut off."""
    data = bytearray(data)
    for _ in range(choice.choice([1, 1, 2, 5, 20])):
        if not data:
            break
        at = choice.randrange(len(data))
        kind = choice.randrange(5)
        if kind == 0:
            data[at] = choice.randrange(256)
        elif kind == 1:
            del data[at:at + choice.choice([1, 2, 8, 100])]
        elif kind == 2:
            data[at:at] = data[at:at + choice.choice([1, 4, 30])]
        elif kind == 3:
            data[at:at + 8] = choice.choice([b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, b"9" * 8])
        elif choice.random() < 0.2:
            del data[at:]
    return bytes(data)


def written_profile(folder):
    """Returns a profile of all operators of a small network, as CSV and as HDF5."""
    planned = sluice(folder, "profile", "plan", "cnn_mnist", "--batch", "4")
    assert planned.returncode == 0, planned.stderr
    lines = [line for line in planned.stdout.decode().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    text = io.StringIO("# format: sluice-profile/1\n# device: K40\n# idle: 30W\n# on: {threads: 2}\n")
    text.seek(0, io.SEEK_END)
    added = {"processed": "yes", "seconds_samples": "0.0011;0.001;0.0012", "joules_median": "0.5"}
    table = csv.DictWriter(text, [*dict.fromkeys([*rows[0], *added])], lineterminator="\n")
    table.writeheader()
    table.writerows({**row, **added} for row in rows)
    (folder / "seed.csv").write_text(text.getvalue())
    done = sluice(folder, "profile", "merge", "seed.csv", "-o", "seed_profile.h5")
    assert done.returncode == 0, done.stderr
    return (folder / "seed.csv").read_bytes(), (folder / "seed_profile.h5").read_bytes()


def seeds_of_profiles(folder):
    """Returns seeds, in the form that seeds_of_mutants() describes. The seeds are profiles as CSV and as HDF5, a table
    of another program, and a profile of copies over a link. A map says what the columns of the table mean."""
    table = "op,b,m,n,k,hot_us,cold_us\n" + "".join(
        f"linear({n}),1,{m},{n},{k},{m * n * k / 4e6},{m * n * k / 3e6 + 9}\n"
        for m in (64, 512) for n in (128, 1024) for k in (256, 2048))
    (folder / "map.yaml").write_text(TABLE_MAP)
    (folder / "table.csv").write_text(table)
    text, hdf5 = written_profile(folder)
    seeds = []
    for name, data in (("m_profile.csv", text), ("m_profile.h5", hdf5)):
        ending = name.split(".")[1]
        (folder / f"measured_{ending}.yaml").write_text(f"{MEASURED}cost: {{model: measured, profile: {name}}}\n")
        seeds.append((name, data, [["profile", "show", name], ["run", f"measured_{ending}.yaml"],
                                   ["profile", "merge", name, "seed.csv"],
                                   ["profile", "compare", name, "seed.csv"],
                                   ["profile", "cover", "cnn_mnist", name, "--whole", "20ms"]]))
    with_map = [["profile", what, "{table}", "--map", "{map}"] for what in ("show", "merge")]
    with_map.append(["profile", "fit", "{table}", "--map", "{map}", "--on", "t4", "--splits", "1",
                     "--where", "cache=hot"])
    for name, data in (("m.csv", table.encode()), ("m_map.yaml", TABLE_MAP.encode())):
        files = {"table": name if name == "m.csv" else "table.csv", "map": name if name == "m_map.yaml" else "map.yaml"}
        seeds.append((name, data, [[word.format(**files) for word in words] for words in with_map]))
    seeds.append(("m_copies.csv", COPIES.encode(), [["profile", "link", "m_copies.csv"],
                                                    ["profile", "link", "m_copies.csv", "--platform", "a100_pcie"]]))
    return seeds


def seeds_of_machines(folder):
    """Returns platforms and fits as seeds, in the form that seeds_of_mutants() describes. Writes scenarios that use
    these platforms and fits."""
    policies = {"k40": "streamed", "rx7900xtx_pair": "{name: data_parallel, replica: streamed}",
                "optane_server": "streamed", "four_v100_switch": "{name: data_parallel, replica: resident}",
                "a100_nvlink_8": "sharded", "ipu_pair_gc200": "phased"}
    seeds = []
    for platform, policy in policies.items():
        (folder / f"on_{platform}.yaml").write_text(f"{STREAMED}policy: {policy}\n")
        data = (ROOT / f"platforms/{platform}.yaml").read_bytes().replace(b"file: rx7900xtx_pcie4.yaml",
                                                                          b"file: rx7900xtx_pcie4")
        seeds.append(("m.yaml", data, [["run", f"on_{platform}.yaml"], ["fits", "alexnet", "--platform", "m.yaml"]]))
    (folder / "fitted.yaml").write_text(
        "format: sluice-scenario/1\nmodel: {file: gpt2, blocks: 1}\nplatform: t4\npolicy: resident\n"
        "stages: per_layer\nworkload: {batch: 1}\ncost: {model: fitted, file: m_fit.yaml}\n")
    for fit in ("gpus_float32", "v100_pcie"):
        seeds.append(("m_fit.yaml", (ROOT / f"fits/{fit}.yaml").read_bytes(), [["run", "fitted.yaml"]]))
    return seeds


def seeds_of_models(folder):
    seeds = []
    for name, ending in (("onnx", "onnx"), ("pipedream", "graph.txt")):
        for path in sorted((ROOT / "tests/fuzz/corpus" / name).iterdir())[:6]:
            data = path.read_bytes()
            seeds.append((f"m.{ending}", data[data.find(b"\n") + 1:], [["model", f"m.{ending}"]]))
    for name in ("alexnet", "cnn_mnist", "gpt2"):
        seeds.append(("m.yaml", (ROOT / f"models/{name}.yaml").read_bytes(), [["model", "m.yaml"]]))
    (folder / "stages.yaml").write_text(HOST)
    table = (ROOT / "models/alexnet_data_island.json").read_bytes()
    seeds.append(("m.json", table, [["model", "m.json"], ["run", "stages.yaml"]]))
    return seeds


def seeds_of_results(folder):
    """Returns traces, plans, baselines with their plans, and stores as seeds. seeds_of_mutants() describes the form."""
    for words in ([*RUN, "workload.steps=1", "-o", "mutant_seed.h5"],
                  [*SWEEP[:3], "workload.batch=1,2", "--store", "mutant_seed.db"],
                  [*CHECK[:2], "--baseline", "mutant_golden", "--update"]):
        done = sluice(folder, *words)
        assert done.returncode == 0, done.stderr
    seeds = [("m.h5", (folder / "mutant_seed.h5").read_bytes(),
              [["show", "m.h5"], ["export", "m.h5", "--to", "csv"], ["export", "m.h5", "--to", "chrome"]])]
    for path in sorted((ROOT / "tests/golden").glob("*resident*.plan")):
        seeds.append(("m.plan", path.read_bytes(), [["run", "m.plan"], ["plan", "m.plan", "--check"]]))
    for path in sorted((folder / "mutant_golden").iterdir()):
        seeds.append((f"mutant_golden/{path.name}", path.read_bytes(), [[*CHECK[:2], "--baseline", "mutant_golden"]]))
    seeds.append(("mutant.db", (folder / "mutant_seed.db").read_bytes(),
                  [[*SWEEP[:3], "workload.batch=1,2", "--store", "mutant.db"]]))
    return seeds


def seeds_of_mutants(folder):
    """Returns seeds for each kind of input. A seed is (name, bytes of a valid file, commands that read it). Other
    files for these commands are written into the folder."""
    folder = pathlib.Path(folder)
    text = (ROOT / "scenarios/alexnet_resident.yaml").read_bytes().replace(b"../", f"{ROOT}/".encode())
    scenario = ("s.yaml", text, [["run", "s.yaml"], ["plan", "s.yaml", "--check"], ["run", "s.yaml", "--resolve"]])
    return [scenario, *seeds_of_results(folder), *seeds_of_models(folder), *seeds_of_machines(folder),
            *seeds_of_profiles(folder)]


def mutated(folder, seeds, choice):
    """Makes a mutant of an input, and runs one command that reads the mutant. The command must answer or refuse, and
    must not crash, hang or end with an internal error."""
    name, data, commands = choice.choice(seeds)
    path = pathlib.Path(folder) / name
    is_text = not data.startswith((b"\x89HDF", b"SQLite"))
    mutant = spoilt_text(data, choice) if is_text and choice.randrange(2) else spoilt(data, choice)
    path.write_bytes(mutant)
    words = choice.choice(commands)
    kept = pathlib.Path(folder) / f"found_{zlib.crc32(mutant):08x}_{path.name}"
    # If the command fails or does not end in time, an exception ends this function, and the file stays.
    kept.write_bytes(mutant)
    try:
        done = sluice(folder, *words, limits={"AS": 6_000_000_000, "CPU": 60})
    finally:
        for log in path.parent.glob(path.name + "-*"):
            log.unlink()
        path.write_bytes(data)  # Other commands read this file, too, so it gets its valid content back.
    if done.returncode not in (0, 1, 2, 3, 4, 5):
        raise AssertionError(f"{words} of {kept.name}: exit {done.returncode} {done.stderr[-300:]!r}")
    kept.unlink()
    if done.returncode:
        assert done.stderr or done.stdout, words
    return done.returncode
