"""Computes in NumPy how self-attention becomes a convolution (Cordonnier, Loukas and Jaggi 2020), and compares
it with nibu-inspect convolution.

    python3 convolution.py NIBU_INSPECT

Written from the lemma: with a head for each tap, W_q = W_k = 0 and scores -alpha (delta - shift)^2, the softmax
becomes the shift as alpha grows. Needs python3-numpy alone.
"""

import json
import subprocess
import sys

import numpy as np

KERNELS = ["1", "0.25,0.5,0.25", "-1,0,1", "1,-2,3,-4,5"]
ALPHAS = [0, 0.5, 2, 16]


def difference(program, kernel):
    command = [program, "convolution", "--json", "--kernel=" + kernel, "--alpha=" + ",".join(map(str, ALPHAS))]
    nibu = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    taps = np.array([float(tap) for tap in kernel.split(",")])
    signal, side = np.array(nibu["signal"]), len(taps) // 2
    padded = np.pad(signal, side)
    convolution = np.convolve(padded, taps[::-1], "valid")  # taps in the order of positions
    largest = abs(convolution - nibu["convolution"]).max()
    n = len(padded)
    inner = slice(side, n - side)
    before = np.inf
    for alpha, run in zip(ALPHAS, nibu["runs"]):
        distance = np.arange(n)[None, :] - np.arange(n)[:, None]
        scores = np.stack([-alpha * (distance - shift) ** 2.0 for shift in range(-side, side + 1)])
        maps = np.exp(scores) / np.exp(scores).sum(2, keepdims=True)
        output = np.einsum("h,hqk,k->q", taps, maps, padded)[inner]
        shifts = np.stack([distance == shift for shift in range(-side, side + 1)])
        off = abs(maps - shifts)[:, inner].max()
        largest = max(largest, abs(maps - run["maps"]).max(), abs(output - run["output"]).max(),
                      abs(off - run["from_shift"]),
                      abs(abs(output - convolution).max() - run["from_convolution"]))
        assert run["alpha"] == alpha
        assert off <= before, "a larger alpha is farther from the shift"
        before = off
    assert nibu["runs"][-1]["from_convolution"] < 1e-4, "attention does not become the convolution"
    return largest


def main():
    failures = 0
    for kernel in KERNELS:
        largest = difference(sys.argv[1], kernel)
        print("convolution %-58s %.1e%s" % (kernel, largest, "" if largest <= 1e-5 else "  TOO LARGE"))
        failures += int(largest > 1e-5)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
