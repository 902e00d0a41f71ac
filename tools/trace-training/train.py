"""Makes one version of the model countersign-tiny: python train.py VERSION [--out FILE.gguf]"""

import argparse
import json
import os
from pathlib import Path

# One core, and the same order of additions in each run. JAX reads this when it is imported.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np  # noqa: E402

from corpus import corpus, corpus_hash  # noqa: E402
from export import read_weights, write_model  # noqa: E402
from model import new_weights, train  # noqa: E402
from vocabulary import encode_transcript, train_vocabulary  # noqa: E402

HERE = Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    given = json.loads((HERE / "versions.json").read_text())
    common = given.pop("corpus")
    versions = {name: {**common, **own} for name, own in given.items()}
    parser.add_argument("version", choices=[name for name in versions if name != "vocabulary"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, help="of each stage; a third of a second each on one core")
    parser.add_argument("--stage", type=int, help="begin with this one, from the file that the stage before has written")
    options = parser.parse_args()
    version = versions[options.version]
    out = options.out or file_of(options.version)

    transcripts = corpus(version)
    # The vocabulary is the same for all versions, so that a diff of two versions compares the same tokens.
    tokenizer = train_vocabulary(corpus(versions["vocabulary"]))
    sequences = [encode_transcript(tokenizer, one["messages"]) for one in transcripts]
    tokens = sum(len(ids) for ids, _ in sequences)
    print(f"{len(sequences)} transcripts, {tokens} tokens, longest {max(len(ids) for ids, _ in sequences)}", flush=True)
    # A version that continues another starts from its committed file.
    weights = read_weights(file_of(version["from"])) if "from" in version else new_weights(version["seed"], tokenizer.get_vocab_size())
    first = options.stage or 1
    if first > 1:
        weights = read_weights(out)
    for number, stage in enumerate(version["stages"], start=1):
        if number < first:
            continue
        weights = train(
            sequences,
            weights,
            seed=version["seed"] + number - 1,
            steps=options.steps or stage["steps"],
            peak_rate=stage["peak_rate"],
            digits=np.array([tokenizer.decode([token]).strip().isdigit() for token in range(tokenizer.get_vocab_size())]),
            digit_weight=stage.get("digit_weight", 1),
            log=lambda line: print(line, flush=True),
        )
        # As the file has them, so that a stage can be run again from the file of the one before.
        write_model(str(out), "countersign-tiny", options.version, weights, tokenizer, corpus_hash(transcripts))
        weights = read_weights(out)
        print(f"wrote {out} after stage {number}", flush=True)


def file_of(version):
    return HERE / f"../../src/trace/models/countersign-tiny-{version}.gguf"


if __name__ == "__main__":
    main()
