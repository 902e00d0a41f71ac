"""Writes vectors/trace/diffs.json: samples, and what scipy and numpy make of them.

The bootstrap draws the numbers of the service's generator (xoshiro128** seeded by splitmix32), written here once more, so
that its interval can be compared to the last digits. Samples with ties are also counted by going through all orders.
"""

import importlib.metadata
import itertools
import json
import math
from pathlib import Path

import numpy as np
from scipy import special, stats

MASK = 0xFFFFFFFF


def randoms(seed):
    state = seed & MASK

    def next32():
        nonlocal state
        state = (state + 0x9E3779B9) & MASK
        mixed = state ^ (state >> 16)
        mixed = (mixed * 0x21F0AAAD) & MASK
        mixed ^= mixed >> 15
        mixed = (mixed * 0x735A2D97) & MASK
        return mixed ^ (mixed >> 15)

    a, b = next32(), next32()
    state = (state ^ (seed >> 32)) & MASK
    c, d = next32(), next32()
    rotate = lambda value, by: ((value << by) | (value >> (32 - by))) & MASK

    def take():
        nonlocal a, b, c, d
        result = (rotate((b * 5) & MASK, 7) * 9) & MASK
        shifted = (b << 9) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = rotate(d, 11)
        return result

    while True:
        yield (take() * 2**21 + (take() >> 11)) / 2**53


def psi(base, target):
    edges = np.arange(11) / 10
    shares = [(np.histogram(one, edges)[0] + 0.5) / (len(one) + 5) for one in (base, target)]
    # The sum of both divergences, each by scipy.
    return float(special.rel_entr(shares[0], shares[1]).sum() + special.rel_entr(shares[1], shares[0]).sum())


def shift(base, target, seed, resamples):
    numbers = randoms(seed)
    differences = np.subtract(target, base)
    count = len(differences)
    means = [differences[[int(next(numbers) * count) for _ in range(count)]].mean() for _ in range(resamples)]
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(differences.mean()), "low": float(low), "high": float(high)}


def p_by_enumeration(base, target):
    merged = np.array([*base, *target])
    reference = stats.ks_2samp(base, target, method="asymp").statistic
    every = range(len(merged))
    hits = total = 0
    for chosen in itertools.combinations(every, len(base)):
        is_base = np.isin(every, chosen)
        total += 1
        hits += stats.ks_2samp(merged[is_base], merged[~is_base], method="asymp").statistic >= reference - 1e-12
    return hits / total


def main():
    state = np.random.default_rng(15)
    pairs = {
        "equal": (values := state.beta(0.5, 3, 40), values),
        "one distribution": (state.beta(0.5, 3, 60), state.beta(0.5, 3, 60)),
        "shifted": (state.beta(0.5, 3, 50), state.beta(2, 2, 50)),
        "far": (state.beta(0.4, 6, 220), state.beta(5, 1, 220)),
        "two sizes": (state.beta(1, 2, 37), state.beta(1.4, 2, 90)),
        "edges": (np.array([0, 0.1, 0.2, 0.3, 0.7, 1.0]), np.array([0.0999999, 0.2999999, 0.6, 0.9, 1.0, 1.0])),
    }
    comparisons = []
    for name, (base, target) in pairs.items():
        base, target = np.round(base, 6), np.round(target, 6)
        has_ties = len(set([*base, *target])) < len(base) + len(target)
        exact = None if has_ties else stats.ks_2samp(base, target, method="exact")
        distance = stats.ks_2samp(base, target, method="asymp").statistic
        effective = len(base) * len(target) / (len(base) + len(target))
        comparisons.append(
            {
                "name": name,
                "base": base.tolist(),
                "target": target.tolist(),
                "psi": psi(base, target),
                "statistic": float(distance),
                "p_exact": None if exact is None else float(exact.pvalue),
                "p_asymptotic": float(stats.kstwobign.sf(math.sqrt(effective) * distance)),
                "shift": shift(base, target, 2**40 + 7, 300) if len(base) == len(target) else None,
            }
        )
    tied = []
    for _ in range(6):
        base, target = state.integers(0, 5, 7) / 4, state.integers(1, 6, 6) / 5
        tied.append({"base": base.tolist(), "target": target.tolist(), "p": p_by_enumeration(base, target)})
    for sizes in [(6, 6), (5, 8)]:
        base, target = state.integers(0, 3, sizes[0]) / 2, state.integers(0, 3, sizes[1]) / 2
        tied.append({"base": base.tolist(), "target": target.tolist(), "p": p_by_enumeration(base, target)})
    divergences = [
        {
            "base": special.log_softmax(one).tolist(),
            "target": special.log_softmax(other).tolist(),
            "kl": float(special.rel_entr(special.softmax(one), special.softmax(other)).sum()),
        }
        for one, other in state.normal(0, 3, (3, 2, 12))
    ]
    holm = [[0.01, 0.04, 0.03, 0.005], [0.5, 0.6], [1e-9, 0.02, 0.02, 0.9, 0.011, 0.3]]
    activations = [state.normal(0.2 * model, 1 + model, (25, 6)).astype(np.float32) for model in (0, 1)]
    base, target = [one.astype(float) for one in activations]
    effect = (target.mean(0) - base.mean(0)) / np.sqrt((base.var(0, ddof=1) + target.var(0, ddof=1)) / 2)
    whole = {
        "provenance": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("scipy", "numpy")) + " (PyPI), tools/diff-vectors/vectors.py",
        "seed": 2**40 + 7,
        "resamples": 300,
        "comparisons": comparisons,
        "tied": tied,
        "divergences": divergences,
        "holm": [{"p": p, "adjusted": holm_of(p)} for p in holm],
        "neurons": {"base": activations[0].tolist(), "target": activations[1].tolist(), "effect": effect.tolist()},
    }
    out = Path(__file__).parent / "../../vectors/trace/diffs.json"
    out.write_text(json.dumps(whole, indent=1) + "\n")


def holm_of(values):
    # p.adjust(method = "holm") of R, in its own words.
    order = np.argsort(values, kind="stable")
    adjusted = np.minimum(1, np.maximum.accumulate(np.array(values)[order] * (len(values) - np.arange(len(values)))))
    return [float(adjusted[np.flatnonzero(order == index)[0]]) for index in range(len(values))]


if __name__ == "__main__":
    main()
