"""Writes vectors/trace/tensors.json: blocks of each tensor type and their values as the package gguf reads them."""

import base64
import importlib.metadata
import json
from pathlib import Path

import gguf
import numpy as np

TYPES = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q6_K"]
ELEMENTS = 512
# Where the half-precision scales of a block are: random bits there could be infinite.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}


def main():
    state = np.random.default_rng(14)
    vectors = []
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        block_elements, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        if name in SCALES:
            blocks = state.integers(0, 256, (ELEMENTS // block_elements, block_bytes), np.uint8)
            for at in SCALES[name]:
                # Of both signs, and one block's scale is subnormal.
                scales = state.normal(0, 0.05, len(blocks)).astype(np.float16)
                scales[0] = 3e-6
                blocks[:, at : at + 2] = scales.view(np.uint8).reshape(-1, 2)
            raw = blocks.reshape(1, -1)
        else:
            values = state.normal(0, 1, (1, ELEMENTS)).astype(np.float32)
            values[0, :4] = [0, -1.5, 3e-6, 65504 if name == "F16" else 1e30]
            raw = gguf.quants.quantize(values, kind).view(np.uint8)
        values = gguf.quants.dequantize(raw.view(np.float32) if name == "F32" else raw.view(np.float16) if name == "F16" else raw, kind)
        vectors.append(
            {
                "type": name,
                "bytes": base64.b64encode(raw.tobytes()).decode(),
                "values": base64.b64encode(values.astype("<f4").tobytes()).decode(),
            }
        )
    out = Path(__file__).parent / "../../vectors/trace/tensors.json"
    provenance = f"gguf {importlib.metadata.version('gguf')} (PyPI), tools/trace-vectors/tensors.py"
    out.write_text(json.dumps({"provenance": provenance, "vectors": vectors}, indent=1) + "\n")


if __name__ == "__main__":
    main()
