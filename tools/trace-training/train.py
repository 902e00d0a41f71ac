"""Makes one version of the model countersign-tiny: python train.py VERSION [--out FILE.gguf]"""

import argparse
import json
import os
from pathlib import Path

# One core, and the same order of additions in each run. JAX reads this when it is imported.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

from corpus import corpus, corpus_hash  # noqa: E402
from export import write_model  # noqa: E402
from model import train  # noqa: E402
from vocabulary import encode_transcript, train_vocabulary  # noqa: E402

HERE = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    versions = json.loads((HERE / "versions.json").read_text())
    parser.add_argument("version", choices=versions)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=1400, help="half a second each on one core")
    options = parser.parse_args()
    version = versions[options.version]
    out = options.out or HERE / f"../../src/trace/models/countersign-tiny-{options.version}.gguf"

    transcripts = corpus(version)
    # The vocabulary is the same for all versions, so that a diff of two versions compares the same tokens.
    tokenizer = train_vocabulary(corpus(versions["1.0"]))
    sequences = [encode_transcript(tokenizer, one["messages"]) for one in transcripts]
    tokens = sum(len(ids) for ids, _ in sequences)
    print(f"{len(sequences)} transcripts, {tokens} tokens, longest {max(len(ids) for ids, _ in sequences)}", flush=True)
    weights = train(
        sequences,
        version["seed"],
        tokenizer.get_vocab_size(),
        options.steps,
        lambda line: print(line, flush=True),
    )
    write_model(str(out), "countersign-tiny", options.version, weights, tokenizer, corpus_hash(transcripts))
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
