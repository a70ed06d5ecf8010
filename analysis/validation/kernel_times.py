"""Reads the times of kernels whose operands are in DRAM or PMEM.

The rows are those of ../shared/data/placement/mnist256_kernel_times_dram_pmem.csv (darchr/ml-tools, MIT). The file has
the kernels of a training step with batch 256. Several rows may repeat one measurement. `placement.py` predicts these
times.
"""

import csv
import math
import statistics
from pathlib import Path

# 'Kernel timing by memory pool' gives two sizes, 294912 and 10240 bytes. These sizes fit this network: 28 x 28 images,
# 2 x 2 convolutions to 16 and 8 channels, a 2 x 2 pool after each convolution, 10 classes, batch 256, float32.
BATCH = 256 * 4
IMAGE = 28 * 28 * BATCH
CONV1, POOL1 = 27 * 27 * 16 * BATCH, 13 * 13 * 16 * BATCH
CONV2, POOL2 = 12 * 12 * 8 * BATCH, 6 * 6 * 8 * BATCH
CLASSES = 10 * BATCH
FILTER1, FILTER2, DENSE = 2 * 2 * 16 * 4, 2 * 2 * 16 * 8 * 4, 288 * 10 * 4
SMALL = 64

# The operands of a node are inferred from its operator and its time. A max-pool stores one index per output. An index
# is assumed to have one byte.
OPERANDS = {
    "ReluBackprop_2611": ([CONV1, CONV1], [CONV1]),
    "ReluBackprop_2573": ([CONV2, CONV2], [CONV2]),
    "MaxPoolWithIndices_3270": ([CONV1], [POOL1, POOL1 // 4]),
    "MaxPoolWithIndices_3262": ([CONV2], [POOL2, POOL2 // 4]),
    "MaxPoolWithIndicesBackprop_3273": ([CONV1, POOL1, POOL1 // 4], [CONV1]),
    "ConvolutionBias_3277": ([IMAGE, FILTER1, SMALL], [CONV1]),
    "ConvolutionBackpropData_3287": ([FILTER2, CONV2], [POOL1]),
    "ConvolutionBiasBackpropFiltersBias_3248": ([IMAGE, CONV1], [FILTER1, SMALL]),
    "ConvolutionBiasBackpropFiltersBias_3242": ([POOL1, CONV2], [FILTER2, SMALL]),
    "MatmulBias_3281": ([POOL2, DENSE, CLASSES], [CLASSES]),
    "MatmulBias_3240": ([POOL2, CLASSES], [DENSE]),
    "ConvertLayout_3284": ([POOL2], [POOL2]),
    "ConvertLayout_3292": ([FILTER2], [FILTER2]),
    "ConvertLayout_3288": ([FILTER2], [FILTER2]),
    "ConvertLayout_3278": ([FILTER2], [FILTER2]),
    "ConvertLayout_3274": ([FILTER1], [FILTER1]),
    "Broadcast_2547": ([CLASSES], [CLASSES]),
    "Sum_2556": ([CLASSES], [SMALL]),
}
ELEMENTWISE = {"Divide_2540", "Subtract_2549", "Multiply_2548", "Multiply_2537"}

RESOLUTION = 0.1  # microseconds; shorter times are left out, because the timer cannot measure them
SMALL_SHARE = 0.01  # share of a node's bytes; the memory of a smaller operand is assumed to have no effect


def operands(node, inputs, outputs):
    if node in OPERANDS:
        return OPERANDS[node]
    size = CLASSES if node in ELEMENTWISE else SMALL
    return [size] * inputs, [size] * outputs


class Row:
    """A measured row of the table. The operands are the inputs and then the outputs."""

    def __init__(self, row, column):
        pools = [[p.strip() for p in row[k].split(",")] for k in ("input_placement", "output_placement")]
        reads, writes = operands(row["node"], *map(len, pools))
        self.node, self.time = row["node"], float(row[column])
        self.sizes, self.inputs = reads + writes, len(reads)
        self.slow = tuple(pool == "PMEM" for pool in pools[0] + pools[1])

    def is_large(self, o):
        return self.sizes[o] >= SMALL_SHARE * sum(self.sizes)

    def large_in_slow(self):
        return tuple(slow and self.is_large(o) for o, slow in enumerate(self.slow))

    def bytes_in(self, slow):
        """`slow` says which operands are in PMEM. Returns two lists of sizes: of the operands in PMEM that the node
        reads, and of the operands in PMEM that it writes."""
        chosen = [[self.sizes[o] for o in range(len(slow)) if slow[o] and (o < self.inputs) == reads]
                  for reads in (True, False)]
        return chosen[0], chosen[1]


def rows_of(folder, column="mean_us_single"):
    """Returns the rows of each node. Nodes that are too short for the timer are left out."""
    nodes = {}
    with open(Path(folder) / "mnist256_kernel_times_dram_pmem.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            nodes.setdefault(row["node"], []).append(Row(row, column))
    return {n: rows for n, rows in nodes.items()
            if next((row.time for row in rows if not any(row.slow)), 0) >= RESOLUTION}


def read(folder, column="mean_us_single"):
    """Returns for each node its time in DRAM, and its placements. A placement is the sizes of the operands that are
    read from PMEM, the sizes of those that are written to PMEM, and the time."""
    return {n: (next(row.time for row in rows if not any(row.slow)),
                [(*row.bytes_in(row.slow), row.time) for row in rows if any(row.slow)])
            for n, rows in rows_of(folder, column).items()}


def groups_of(rows):
    """Returns the rows of a node in groups. The rows of a group differ only in the memories of small operands, so they
    repeat one measurement. The key of a group says which large operands are in PMEM."""
    groups = {}
    for row in rows:
        groups.setdefault(row.large_in_slow(), []).append(row)
    return groups


def repeated(folder, column):
    """Rows of a node that differ only in the memories of small operands repeat one measurement. Returns the times of
    each group of two or more such rows."""
    groups = [[row.time for row in group if row.time >= RESOLUTION]
              for rows in rows_of(folder, column).values() for group in groups_of(rows).values()]
    return [times for times in groups if len(times) > 1]


def mean_time(rows):
    return math.exp(statistics.mean(math.log(row.time) for row in rows))


def averaged(folder, column="mean_us_single"):
    """Returns the time in DRAM and the placements of each node, in the form in which read() returns them. But rows that
    repeat the same measurement are replaced by one row. The time of this row is the geometric mean of their times. Also
    returns numbers of rows for each node: the number with all large operands in DRAM, and the number for each other
    placement."""
    kernels, counts = {}, {}
    for n, rows in rows_of(folder, column).items():
        groups = groups_of(rows)
        base = groups.pop(tuple([False] * len(rows[0].sizes)))
        kernels[n] = (mean_time(base), [(*group[0].bytes_in(slow), mean_time(group)) for slow, group in groups.items()])
        counts[n] = (len(base), [len(group) for group in groups.values()])
    return kernels, counts


def deviation(folder, column="mean_us_single"):
    """Returns the standard deviation of the logarithms of times that repeat a measurement."""
    squares = freedom = 0
    for times in repeated(folder, column):
        logs = [math.log(t) for t in times]
        mean = statistics.mean(logs)
        squares += sum((x - mean) ** 2 for x in logs)
        freedom += len(logs) - 1
    return math.sqrt(squares / freedom)


def significant(deviation_, rows=1, others=1):
    """Compares a mean of `rows` rows with a mean of `others` rows. If all rows repeat one measurement, the means differ
    only by chance. Returns the relative difference that chance exceeds in only 5 % of cases. At this difference, the
    logarithms of the two means differ by 1.96 standard deviations."""
    return math.exp(1.96 * deviation_ * math.sqrt(1 / rows + 1 / others)) - 1
