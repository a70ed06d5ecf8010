"""The types of all metrics. `./dev accept` writes this file."""

from __future__ import annotations

from typing import Optional


class MetricTypes:
    """The metrics of a run that ended, with their types. A metric that has no number in some runs may be None."""

    arithmetic_intensity: float
    bound_by: str
    bound_ratio: float
    bubble_fraction: float
    compute_s: float
    compute_s_by_stage: dict[str, float]
    compute_utilisation: float
    energy_j: Optional[float]
    energy_j_by_device: dict[str, float]
    energy_j_by_link: dict[str, float]
    energy_per_sample_j: Optional[float]
    exposed_transfer_s: float
    first_step_s: float
    flop: int
    full_rate_s_by_link: dict[str, float]
    lower_bound_s: float
    makespan_s: float
    measured_share: Optional[float]
    offloaded_bytes: int
    overflow_bytes: dict[str, int]
    peak_bytes: dict[str, int]
    peak_bytes_by_class: dict[str, dict[str, int]]
    question_bound_s: float
    question_ratio: float
    recompute_overhead: float
    recompute_s: float
    samples: int
    steady_throughput_samples_per_s: float
    step_s: float
    throughput_samples_per_s: float
    training_over_inference: Optional[float]
    transfer_s: float
    transfer_s_by_class: dict[str, float]
    transfer_s_by_link: dict[str, float]
    transferred_bytes: int
    transferred_bytes_by_class: dict[str, int]
    transferred_bytes_by_link: dict[str, int]
