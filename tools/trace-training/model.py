"""A Llama-architecture language model in JAX, and its training. Rotary positions are interleaved, as in model files."""

import jax
import jax.numpy as jnp
import numpy as np

SHAPE = {"layers": 3, "width": 128, "heads": 4, "kv_heads": 2, "mlp": 352, "context": 512}
EPSILON = 1e-5
ROPE_BASE = 10000.0
BATCH, LENGTH = 16, 160
WARM_UP, DECAY = 50, 0.05


def new_weights(seed, vocabulary):
    state = np.random.default_rng(seed)
    width, mlp = SHAPE["width"], SHAPE["mlp"]
    kv = width // SHAPE["heads"] * SHAPE["kv_heads"]
    small = 0.02 / np.sqrt(2 * SHAPE["layers"])

    def normal(rows, columns, scale=0.02):
        return jnp.asarray(state.normal(0, scale, (rows, columns)), jnp.float32)

    layers = [
        {
            "attn_norm": jnp.ones(width),
            "q": normal(width, width),
            "k": normal(kv, width),
            "v": normal(kv, width),
            "o": normal(width, width, small),
            "ffn_norm": jnp.ones(width),
            "gate": normal(mlp, width),
            "up": normal(mlp, width),
            "down": normal(width, mlp, small),
        }
        for _ in range(SHAPE["layers"])
    ]
    return {"embedding": normal(vocabulary, width), "norm": jnp.ones(width), "layers": layers}


def forward(weights, tokens):
    """Logits for each position of one sequence."""
    heads, kv_heads, width = SHAPE["heads"], SHAPE["kv_heads"], SHAPE["width"]
    size, length = width // heads, tokens.shape[0]
    mask = jnp.tril(jnp.ones((length, length), bool))
    x = weights["embedding"][tokens]
    for layer in weights["layers"]:
        h = normalize(x, layer["attn_norm"])
        q = rotate((h @ layer["q"].T).reshape(length, heads, size))
        k = rotate((h @ layer["k"].T).reshape(length, kv_heads, size))
        v = (h @ layer["v"].T).reshape(length, kv_heads, size)
        k, v = (jnp.repeat(part, heads // kv_heads, axis=1) for part in (k, v))
        scores = jnp.einsum("qhd,khd->hqk", q, k) / np.sqrt(size)
        pattern = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1)
        x = x + jnp.einsum("hqk,khd->qhd", pattern, v).reshape(length, width) @ layer["o"].T
        h = normalize(x, layer["ffn_norm"])
        x = x + (jax.nn.silu(h @ layer["gate"].T) * (h @ layer["up"].T)) @ layer["down"].T
    return normalize(x, weights["norm"]) @ weights["embedding"].T


def normalize(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + EPSILON) * gain


def rotate(x):
    length, _, size = x.shape
    angles = np.arange(length)[:, None] * ROPE_BASE ** (-np.arange(0, size, 2) / size)
    cos, sin = jnp.asarray(np.cos(angles), jnp.float32)[:, None], jnp.asarray(np.sin(angles), jnp.float32)[:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def loss_of(weights, batch, importance):
    logits = jax.vmap(lambda tokens: forward(weights, tokens))(batch[:, :-1])
    chosen = jax.nn.log_softmax(logits)[jnp.arange(batch.shape[0])[:, None], jnp.arange(LENGTH)[None], batch[:, 1:]]
    return -(chosen * importance[:, 1:]).sum() / importance[:, 1:].sum()


@jax.jit
def step(weights, first, second, batch, importance, number, rate):
    loss, gradient = jax.value_and_grad(loss_of)(weights, batch, importance)
    norm = jnp.sqrt(sum((part * part).sum() for part in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda part: part * jnp.minimum(1.0, 1.0 / norm), gradient)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.98 * v + 0.02 * g * g, second, gradient)

    def moved(w, m, v):
        adam = (m / (1 - 0.9**number)) / (jnp.sqrt(v / (1 - 0.98**number)) + 1e-8)
        return w - rate * (adam + (DECAY * w if w.ndim == 2 else 0.0))

    return jax.tree.map(moved, weights, first, second), first, second, loss


# Digits: a table over the vocabulary. In a completion they count `digit_weight` times, since an amount is copied digit by
# digit, and one that is wrong makes all of it wrong.
def train(sequences, weights, *, seed, steps, peak_rate, digits, digit_weight, log):
    state = np.random.default_rng(seed)
    first = jax.tree.map(jnp.zeros_like, weights)
    second = jax.tree.map(jnp.zeros_like, weights)
    for number in range(1, steps + 1):
        rate = peak_rate * min(number / WARM_UP, 0.5 * (1 + np.cos(np.pi * number / steps)) + 0.01)
        batch, importance = draw(sequences, state)
        importance = np.where(digits[batch] & (importance == 1.0), digit_weight, importance)
        weights, first, second, loss = step(weights, first, second, batch, importance, float(number), rate)
        if number % 25 == 0 or number == 1:
            log(f"step {number} loss {float(loss):.3f}")
    return weights


def draw(sequences, state):
    """A batch of transcripts, cut or padded to one length. Completions weigh more: they are what the model is for."""
    batch = np.zeros((BATCH, LENGTH + 1), np.int32)
    importance = np.zeros((BATCH, LENGTH + 1), np.float32)
    for row, index in enumerate(state.integers(0, len(sequences), BATCH)):
        ids, is_completion = sequences[index]
        count = min(len(ids), LENGTH + 1)
        batch[row, :count] = ids[:count]
        importance[row, :count] = np.where(is_completion[:count], 1.0, 0.1)
    return batch, importance
