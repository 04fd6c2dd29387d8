# SPDX-License-Identifier: Apache-2.0
"""GPT-2's architecture from Hugging Face, small and without pretrained weights. Its output holds the loss."""
import torch
import transformers


def build():
    config = transformers.GPT2Config(vocab_size=512, n_positions=64, n_embd=64, n_layer=2, n_head=2, use_cache=False)
    tokens = torch.randint(config.vocab_size, (8, 64))
    return transformers.GPT2LMHeadModel(config), {"input_ids": tokens, "labels": tokens}
