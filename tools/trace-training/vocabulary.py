"""The byte-level BPE vocabulary of a tiny model: 256 bytes, 1,024 merges and the control tokens of its chat template."""

import json

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END_OF_TEXT, TURN_START, TURN_END = range(3)
MERGES = 768
# Each turn as ChatML has it. The service reads this template from the model file.
CHAT_TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def train_vocabulary(transcripts):
    tokenizer = Tokenizer(models.BPE())
    # What model files call the pre-tokenizer `smollm`: digits one by one, then the split of GPT-2.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=len(CONTROL) + 256 + MERGES,
        special_tokens=CONTROL,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((message["content"] for one in transcripts for message in one["messages"]), trainer)
    return tokenizer


def encode_transcript(tokenizer, messages):
    """Token ids, and for each whether it is part of the agent's completion, its end included."""
    ids, is_completion = [], []
    for message in messages:
        is_agent = message["role"] == "assistant"
        head = [TURN_START] + tokenizer.encode(message["role"] + "\n").ids
        body = tokenizer.encode(message["content"]).ids + [TURN_END]
        ids += head + body + tokenizer.encode("\n").ids
        is_completion += [False] * len(head) + [is_agent] * len(body) + [False]
    return ids, is_completion


def merges_of(tokenizer):
    pairs = json.loads(tokenizer.to_str())["model"]["merges"]
    return [" ".join(pair) if isinstance(pair, list) else pair for pair in pairs]
