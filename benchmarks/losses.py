"""Losses for PyTorch: forward and backward of a batch, beside `torch.sort` of the same scores in the same run.

python benchmarks/losses.py [people ...] [--threads N]

Scores are float32, two groups, a label. On a GPU, if there is one, times are those of its own clock (CUDA events), and
the floor is what the bytes that must move (read score and group, write the gradient) take at the bandwidth of a copy.
The last column is how far ABCC is from an exact one, in double precision with numpy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from stopwatch import seconds

REPEAT = 7
NAMES = ("mean_gap", "abcc", "abcc_standardized", "abpc", "wasserstein", "equalized_odds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=int, nargs="*")
    parser.add_argument("--threads", type=int, help="of the processor; by default torch decides")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("torch is not installed, so there are no losses to time")
        return
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    for people in arguments.people or [2**20]:
        measure(people, "cpu")
    if torch.cuda.is_available():
        print(torch.cuda.get_device_name())
        for people in arguments.people or [2**20, 2**24]:
            measure(people, "cuda")


def measure(people: int, device: str) -> None:
    import torch

    from evenhand.learn import loss

    generator = torch.Generator(device).manual_seed(1)
    group, label = (torch.randint(0, 2, (people,), device=device, generator=generator) for _ in range(2))
    score = torch.rand(people, device=device, generator=generator) ** (1 + 0.1 * group)
    score.requires_grad_()
    timed = _on_gpu if device == "cuda" else lambda call: seconds(call, REPEAT)
    sort = timed(lambda: torch.sort(score.detach()))
    floor = _floor(people, timed, device)
    print(f"{people:>12,} on {device:<6}{'ms':>10}{'× sort':>9}{'× floor':>9}{'error':>10}")

    def line(what: str, taken: float, error: str = "") -> None:
        print(f"{what:<21}{1e3 * taken:>10.2f}{taken / sort:>9.2f}{taken / floor:>9.1f}{error:>10}", flush=True)

    line("floor of bandwidth", floor)
    line("torch.sort", sort)
    for name in NAMES:
        unfair = loss(name, n_groups=2).to(device)

        def both(unfair: Any = unfair) -> None:
            score.grad = None
            unfair(score, group, label).backward()

        taken = timed(both)
        line(name, taken, f"{abs(unfair(score, group).item() - _exact(score, group)):.0e}" if name == "abcc" else "")


def _floor(people: int, timed: Callable[[Callable[[], Any]], float], device: str) -> float:
    """How long the bytes take that any such loss must move: score 4, group 8, gradient 4."""
    import torch

    source = torch.ones(max(people, 2**24), device=device)  # so many that no cache holds them
    target = torch.empty_like(source)
    bandwidth = 8 * len(source) / timed(lambda: target.copy_(source))
    return 16 * people / bandwidth


def _on_gpu(call: Callable[[], Any]) -> float:
    import torch

    best = float("inf")
    for _ in range(REPEAT + 1):  # the first prepares
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) / 1e3)
    return best


def _exact(score: Any, group: Any) -> float:
    x, g = (t.detach().cpu().numpy() for t in (score.double(), group))
    order = np.argsort(x, kind="stable")
    step = np.where(g[order] == 0, 1 / (g == 0).sum(), -1 / (g == 1).sum())
    return float((np.abs(np.cumsum(step))[:-1] * np.diff(x[order])).sum())


if __name__ == "__main__":
    main()
