"""Exports a Llama model of a GGUF file to ONNX: the modelling code of transformers, by one of PyTorch's two exporters.

    python export.py MODEL.gguf FOLDER legacy|dynamo [--no-cache] [--float32]
"""

import argparse
import json
import pathlib

import gguf
import numpy as np
import onnx
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from tokenizer import write_tokenizer

PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def read_model(path):
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    tensors = {one.name: gguf.quants.dequantize(one.data, one.tensor_type) for one in reader.tensors}
    heads = fields["llama.attention.head_count"]
    config = LlamaConfig(
        vocab_size=len(fields["tokenizer.ggml.tokens"]),
        hidden_size=fields["llama.embedding_length"],
        intermediate_size=fields["llama.feed_forward_length"],
        num_hidden_layers=fields["llama.block_count"],
        num_attention_heads=heads,
        num_key_value_heads=fields.get("llama.attention.head_count_kv", heads),
        max_position_embeddings=fields["llama.context_length"],
        rms_norm_eps=float(fields["llama.attention.layer_norm_rms_epsilon"]),
        rope_theta=float(fields.get("llama.rope.freq_base", 10_000.0)),
        tie_word_embeddings="output.weight" not in tensors,
        bos_token_id=fields.get("tokenizer.ggml.bos_token_id"),
        eos_token_id=fields.get("tokenizer.ggml.eos_token_id"),
        attn_implementation="eager",
        dtype="float32",
    )
    state = {
        "model.embed_tokens.weight": tensors["token_embd.weight"],
        "model.norm.weight": tensors["output_norm.weight"],
        "lm_head.weight": tensors.get("output.weight", tensors["token_embd.weight"]),
    }
    for layer in range(config.num_hidden_layers):
        for part, name in PARTS.items():
            weight = tensors[f"blk.{layer}.{part}.weight"]
            if part == "attn_q":
                weight = halves(weight, heads)
            if part == "attn_k":
                weight = halves(weight, config.num_key_value_heads)
            state[f"model.layers.{layer}.{name}.weight"] = weight
    model = LlamaForCausalLM(config).eval()
    model.load_state_dict({name: torch.tensor(np.asarray(one, np.float32)) for name, one in state.items()})
    return model, fields


def halves(weight, heads):
    """GGUF files turn neighbouring numbers of a head with the position, transformers the two halves of it."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


class Decoder(torch.nn.Module):
    """Inputs and outputs as published decoders have them: one list of tensors."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, position_ids, *past):
        cache = DynamicCache(config=self.model.config) if past else None
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        made = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=cache,
            use_cache=bool(past),
        )
        if not past:
            return (made.logits,)
        present = [part for layer in made.past_key_values.layers for part in (layer.keys, layer.values)]
        return (made.logits, *present)


def example(config, has_cache, batch=2, tokens=3, before=4):
    before = before if has_cache else 0
    size = config.hidden_size // config.num_attention_heads
    past = [
        torch.randn(batch, config.num_key_value_heads, before, size)
        for _ in range(2 * config.num_hidden_layers if has_cache else 0)
    ]
    positions = torch.arange(before, before + tokens)[None].repeat(batch, 1)
    ids = torch.randint(0, config.vocab_size, (batch, tokens))
    return (ids, torch.ones(batch, before + tokens, dtype=torch.int64), positions, *past)


def names_of(config, has_cache):
    layers = range(config.num_hidden_layers if has_cache else 0)
    past = [f"past_key_values.{layer}.{kind}" for layer in layers for kind in ("key", "value")]
    present = [f"present.{layer}.{kind}" for layer in layers for kind in ("key", "value")]
    return ["input_ids", "attention_mask", "position_ids", *past], ["logits", *present]


def export(model, path, exporter, has_cache):
    inputs, outputs = names_of(model.config, has_cache)
    arguments = example(model.config, has_cache)
    options = {"input_names": inputs, "output_names": outputs}
    if exporter == "legacy":
        axes = {name: {0: "batch_size", 1: "sequence_length"} for name in ["input_ids", "position_ids", "logits"]}
        axes["attention_mask"] = {0: "batch_size", 1: "total_length"}
        for name in inputs[3:]:
            axes[name] = {0: "batch_size", 2: "past_length"}
        for name in outputs[1:]:
            axes[name] = {0: "batch_size", 2: "total_length"}
        torch.onnx.export(
            Decoder(model), arguments, path, dynamo=False, opset_version=17, dynamic_axes=axes, **options
        )
        return
    batch, tokens, before = torch.export.Dim("batch"), torch.export.Dim("tokens"), torch.export.Dim("before")
    auto = torch.export.Dim.DYNAMIC
    text = {0: batch, 1: tokens}
    total = {0: batch, 1: auto}
    past = tuple({0: batch, 2: before} for _ in inputs[3:])
    torch.onnx.export(
        Decoder(model),
        arguments,
        path,
        dynamo=True,
        external_data=False,
        dynamic_shapes=(text, total if has_cache else text, text, past),
        **options,
    )


def halve(path):
    """Stores matrices as half floats, which is what the GGUF file has. A Cast makes them floats again."""
    model = onnx.load(path)
    graph = model.graph
    casts = []
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if tensor.data_type != onnx.TensorProto.FLOAT or values.ndim != 2:
            continue
        if not np.array_equal(values.astype(np.float16).astype(np.float32), values):
            raise ValueError(f"{tensor.name} loses digits as half floats")
        name = tensor.name
        tensor.CopyFrom(onnx.numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(onnx.helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("exporter", choices=["legacy", "dynamo"])
    parser.add_argument("--no-cache", action="store_true")
    parser.add_argument("--float32", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    model, fields = read_model(options.model)
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "model.onnx"
    with torch.no_grad():
        export(model, str(path), options.exporter, not options.no_cache)
    if not options.float32:
        halve(path)
    write_tokenizer(options.folder, fields)
    (options.folder / "config.json").write_text(json.dumps(model.config.to_dict(), indent=2, sort_keys=True) + "\n")


main()
