"""Writes a trained model as a GGUF file: Llama architecture, 16-bit matrices, 32-bit norms."""

import gguf
import jax.numpy as jnp
import numpy as np

from model import EPSILON, ROPE_BASE, SHAPE
from vocabulary import CHAT_TEMPLATE, CONTROL, END_OF_TEXT, TURN_END, TURN_START, merges_of

NAMES = {
    "attn_norm": "attn_norm",
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "o": "attn_output",
    "ffn_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}


def write_model(path, name, version, weights, tokenizer, corpus_sha256, pre="smollm"):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    writer.add_version(version)
    writer.add_license("Apache-2.0")
    writer.add_string("countersign.corpus_sha256", corpus_sha256)
    writer.add_context_length(SHAPE["context"])
    writer.add_embedding_length(SHAPE["width"])
    writer.add_block_count(SHAPE["layers"])
    writer.add_feed_forward_length(SHAPE["mlp"])
    writer.add_head_count(SHAPE["heads"])
    writer.add_head_count_kv(SHAPE["kv_heads"])
    writer.add_rope_dimension_count(SHAPE["width"] // SHAPE["heads"])
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(tokenizer.get_vocab_size())
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)

    tokens = [tokenizer.id_to_token(token) for token in range(tokenizer.get_vocab_size())]
    kinds = [gguf.TokenType.CONTROL if token in CONTROL else gguf.TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges_of(tokenizer))
    writer.add_bos_token_id(TURN_START)
    writer.add_eos_token_id(TURN_END)
    writer.add_pad_token_id(END_OF_TEXT)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHAT_TEMPLATE)

    writer.add_tensor("token_embd.weight", half(weights["embedding"]))
    writer.add_tensor("output_norm.weight", np.asarray(weights["norm"], np.float32))
    for number, layer in enumerate(weights["layers"]):
        for part, file_name in NAMES.items():
            array = layer[part]
            whole = half(array) if array.ndim == 2 else np.asarray(array, np.float32)
            writer.add_tensor(f"blk.{number}.{file_name}.weight", whole)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_weights(path):
    """The weights of a file that write_model has written."""
    tensors = {one.name: jnp.asarray(np.asarray(one.data), jnp.float32) for one in gguf.GGUFReader(path).tensors}
    layers = [
        {part: tensors[f"blk.{number}.{file_name}.weight"] for part, file_name in NAMES.items()}
        for number in range(SHAPE["layers"])
    ]
    return {"embedding": tensors["token_embd.weight"], "norm": tensors["output_norm.weight"], "layers": layers}


def half(array):
    return np.asarray(array, np.float16)
