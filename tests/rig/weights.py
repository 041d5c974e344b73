"""Shapes and random weights of the tiny models, one architecture for each kind of memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LAYERS = 2
WIDTH = 64
HEADS = 2
FEED_FORWARD = 128
# Longer than any prompt of a test, so that no context size is ever cut down to it.
TRAINED_CONTEXT = 131_072
SLIDING_WINDOW = 512
STATE = 16
INNER = 2 * WIDTH
STATE_HEADS = 4
CONVOLUTION = 4
SEED = 20261111

# Parameters of the state itself: their names have no ".weight" behind them.
BARE = ("ssm_a", "ssm_d")


@dataclass(frozen=True)
class Shape:
    """An architecture: figures by the name GGUF gives them, and the tensors of one layer."""

    figures: dict[str, int | float]
    tensors: dict[str, tuple[int, ...]]


type Architecture = Callable[[], Shape]

_COMMON: dict[str, int | float] = {
    "block_count": LAYERS,
    "context_length": TRAINED_CONTEXT,
    "embedding_length": WIDTH,
    "layer_norm_rms_eps": 1e-6,
}
_ATTENTION = _COMMON | {
    "feed_forward_length": FEED_FORWARD,
    "head_count": HEADS,
    "head_count_kv": HEADS,
    "key_length": WIDTH // HEADS,
    "value_length": WIDTH // HEADS,
}


def llama() -> Shape:
    """Attention only: any part of the memory can be cut off and read again."""
    return Shape(
        _ATTENTION,
        {
            "attn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (WIDTH, WIDTH),
            "attn_v": (WIDTH, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_norm": (WIDTH,),
            "ffn_gate": (FEED_FORWARD, WIDTH),
            "ffn_up": (FEED_FORWARD, WIDTH),
            "ffn_down": (WIDTH, FEED_FORWARD),
        },
    )


def gemma3() -> Shape:
    """Sliding window in every second layer: what slid out of the window is gone."""
    head = (WIDTH // HEADS,)
    return Shape(
        _ATTENTION | {"sliding_window": SLIDING_WINDOW, "sliding_window_pattern": 2},
        llama().tensors
        | {
            "attn_q_norm": head,
            "attn_k_norm": head,
            "post_attention_norm": (WIDTH,),
            "post_ffw_norm": (WIDTH,),
        },
    )


def mamba2() -> Shape:
    """Recurrent: one state that only ever moves on, so only checkpoints lead back."""
    convolved = INNER + 2 * STATE
    return Shape(
        _COMMON
        | {
            # llama.cpp asks for both, though this architecture has neither.
            "feed_forward_length": 0,
            "head_count": 0,
            "ssm_conv_kernel": CONVOLUTION,
            "ssm_inner_size": INNER,
            "ssm_state_size": STATE,
            "ssm_time_step_rank": STATE_HEADS,
            "ssm_group_count": 1,
        },
        {
            "attn_norm": (WIDTH,),
            "ssm_in": (INNER + convolved + STATE_HEADS, WIDTH),
            "ssm_conv1d": (convolved, CONVOLUTION),
            "ssm_conv1d.bias": (convolved,),
            "ssm_dt.bias": (STATE_HEADS,),
            "ssm_a": (STATE_HEADS, 1),
            "ssm_d": (STATE_HEADS, 1),
            "ssm_norm": (1, INNER),
            "ssm_out": (WIDTH, INNER),
        },
    )


def tensors(
    shape: Shape, vocabulary_size: int, unspeakable: list[int]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield seeded random tensors in which the unspeakable tokens never win against the others."""
    random = np.random.default_rng(SEED)

    def noise(*size: int) -> NDArray[np.float32]:
        values: NDArray[np.float32] = random.standard_normal(size, dtype=np.float32)
        return values * np.float32(size[-1] ** -0.5)

    yield "token_embd.weight", noise(vocabulary_size, WIDTH)
    output = noise(vocabulary_size, WIDTH)
    # Zero, where thousands of others lie on both sides of it: never the greatest.
    output[unspeakable] = 0
    yield "output.weight", output
    yield "output_norm.weight", np.ones(WIDTH, dtype=np.float32)
    for layer in range(LAYERS):
        for name, size in shape.tensors.items():
            full = name if "." in name or name in BARE else f"{name}.weight"
            yield f"blk.{layer}.{full}", _values(name, noise(*size))


def _values(name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what the tensor of this name holds: noise, except where noise would break it."""
    if name.endswith("norm"):
        return np.ones_like(values)
    if name == "ssm_a":
        return -np.ones_like(values)  # a state has to fade, or it grows past all bounds
    return values
