# SPDX-License-Identifier: Apache-2.0
"""Measured steps that list_steps takes again: rows of tables, their models, and a step as users write it.

A model has random weights and data: (module, function without arguments that gives the loss). What is made lies on the device of
the context, or the module on the host. fp32 has TF32 off everywhere, tf32 on everywhere, and the others have torch's defaults: on
for cuDNN, off for products.
"""
import contextlib
import dataclasses
import importlib


@dataclasses.dataclass(frozen=True)
class Row:
    """Source, model, samples per step, pixels of a side or elements of a sequence, precision, layout, optimizer."""
    source: str
    model: str
    batch: int
    size: int
    precision: str
    layout: str
    optimizer: str

    @property
    def name(self):
        layout = "" if self.layout == "-" else "/" + self.layout
        return f"{self.source}/{self.model}/{self.batch}/{self.size}/{self.precision}{layout}/{self.optimizer}"


def set_precision(torch, row):
    torch.backends.cuda.matmul.allow_tf32 = row.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = row.precision != "fp32"
    torch.backends.cudnn.benchmark = False


def make_optimizer(torch, row, module, foreach=None):
    """`foreach`: whether tensors are updated by one kernel together; None: as torch has it."""
    if row.optimizer == "none":
        return None
    if row.optimizer == "adamw":
        return torch.optim.AdamW(module.parameters(), lr=1e-4, foreach=foreach)
    return torch.optim.SGD(module.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4, foreach=foreach)


def make_step(torch, row, device, module, loss_of, foreach=None):
    """A function that takes one step."""
    optimizer = make_optimizer(torch, row, module, foreach)
    formats = {"amp-bf16": torch.bfloat16, "amp-fp16": torch.float16}
    scaler = torch.amp.GradScaler(device) if row.precision == "amp-fp16" else None

    def forward():
        if row.precision not in formats:
            return loss_of()
        with torch.autocast(device, dtype=formats[row.precision]):
            return loss_of()

    def step():
        if optimizer is None:
            module.zero_grad(set_to_none=False)
        else:
            optimizer.zero_grad(set_to_none=True)
        loss = forward()
        if scaler is None:
            loss.backward()
            if optimizer is not None:
                optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    return step


def dtype_of(torch, row):
    return torch.bfloat16 if row.precision == "bf16" else torch.float32


def image_loss(torch, output, target):
    """Of logits, of Inception's pair of them, or of a segmentation's."""
    loss = torch.nn.functional.cross_entropy
    if isinstance(output, dict):
        return loss(output["out"], target)
    if isinstance(output, tuple):
        return loss(output[0], target) + 0.4 * loss(output[1], target)
    return loss(output, target)


def of_images(torch, row, module, classes, target_shape):
    memory = torch.channels_last if row.layout == "channels-last" else torch.contiguous_format
    module = module.to(memory_format=memory)
    images = torch.randn(row.batch, 3, row.size, row.size, dtype=dtype_of(torch, row)).to(memory_format=memory)
    target = torch.randint(classes, target_shape)
    return module, lambda: image_loss(torch, module(images), target)


def from_torchvision(torch, row):
    if row.model.startswith("deeplab"):
        make = getattr(importlib.import_module("torchvision.models.segmentation"), row.model)
        return of_images(torch, row, make(weights=None, weights_backbone=None), 21, (row.batch, row.size, row.size))
    make = getattr(importlib.import_module("torchvision.models"), row.model)
    more = {"init_weights": True} if row.model == "inception_v3" else {}
    with torch.device("cpu") if row.model.startswith("regnet") else contextlib.nullcontext():  # computes its widths by tensors
        module = make(weights=None, **more)
    return of_images(torch, row, module, 1000, (row.batch,))


def from_timm(torch, row):
    module = importlib.import_module("timm").create_model(row.model, pretrained=False)
    return of_images(torch, row, module, 1000, (row.batch,))


# Class of the model, class of its configuration, what of the configuration is not its default.
CONFIGURED = {
    "bert-base": ("BertForSequenceClassification", "BertConfig", {}),
    "bert-large": ("BertForSequenceClassification", "BertConfig", {
        "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
        "attn_implementation": "eager"}),  # as published before PyTorch fused it
    "bert-base-mlm": ("BertForMaskedLM", "BertConfig", {}),
    "distilbert": ("DistilBertForSequenceClassification", "DistilBertConfig", {}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"use_cache": False}),
    "t5-small": ("T5ForConditionalGeneration", "T5Config", {"use_cache": False, "decoder_start_token_id": 0}),
    "llama-160m": ("LlamaForCausalLM", "LlamaConfig", {
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "max_position_embeddings": 2048, "use_cache": False}),
    "whisper-tiny": ("WhisperForConditionalGeneration", "WhisperConfig", {
        "d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6, "decoder_attention_heads": 6,
        "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536, "use_cache": False}),
    "wav2vec2-base": ("Wav2Vec2ForCTC", "Wav2Vec2Config", {"ctc_loss_reduction": "mean"}),
}


def texts(torch, row, configuration, length):
    return torch.randint(5, configuration.vocab_size, (row.batch, length))


def inputs_of(torch, row, configuration):
    """What the model is called with, by name."""
    if row.model in ("gpt2", "llama-160m"):
        tokens = texts(torch, row, configuration, row.size)
        return {"input_ids": tokens, "labels": tokens}
    if row.model == "whisper-tiny":
        sounds = torch.randn(row.batch, configuration.num_mel_bins, row.size, dtype=dtype_of(torch, row))
        return {"input_features": sounds, "labels": texts(torch, row, configuration, 128)}
    if row.model == "wav2vec2-base":
        sounds = torch.randn(row.batch, row.size, dtype=dtype_of(torch, row))
        return {"input_values": sounds, "labels": texts(torch, row, configuration, max(4, row.size // 1600))}
    named = {"input_ids": texts(torch, row, configuration, row.size),
             "attention_mask": torch.ones(row.batch, row.size, dtype=torch.int64)}
    if row.model == "t5-small":
        return named | {"labels": texts(torch, row, configuration, row.size // 4)}
    if row.model == "bert-base-mlm":
        return named | {"labels": texts(torch, row, configuration, row.size)}
    return named | {"labels": torch.randint(2, (row.batch,))}


def from_transformers(torch, row):
    transformers = importlib.import_module("transformers")
    of_model, of_configuration, settings = CONFIGURED[row.model]
    configuration = getattr(transformers, of_configuration)(**settings)
    module = getattr(transformers, of_model)(configuration)
    inputs = inputs_of(torch, row, configuration)
    return module, lambda: module(**inputs).loss


def lstm(torch, row, words=10000, width=650):
    """A language model of two layers."""
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(words, width)
            self.lstm = torch.nn.LSTM(width, width, 2, batch_first=True, dropout=0.5)
            self.output = torch.nn.Linear(width, words)

        def forward(self, tokens):
            return self.output(self.lstm(self.embedding(tokens))[0])

    module, tokens = Model(), torch.randint(words, (row.batch, row.size + 1))
    return module, lambda: torch.nn.functional.cross_entropy(module(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def transformer_encoder(torch, row, words=30000, width=512):
    """Six layers of torch's own, and a classification of what they give at the mean."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True)
    module = nn.Sequential(nn.Embedding(words, width), nn.TransformerEncoder(layer, 6), nn.Linear(width, 10))
    tokens, target = torch.randint(words, (row.batch, row.size)), torch.randint(10, (row.batch,))
    return module, lambda: nn.functional.cross_entropy(module(tokens).mean(1), target)


def mlp(torch, row):
    """Four hidden layers as wide as the input."""
    nn = torch.nn
    hidden = [layer for _ in range(4) for layer in (nn.Linear(row.size, row.size), nn.ReLU())]
    module = nn.Sequential(*hidden, nn.Linear(row.size, 1000))
    inputs, target = torch.randn(row.batch, row.size, dtype=dtype_of(torch, row)), torch.randint(1000, (row.batch,))
    return module, lambda: nn.functional.cross_entropy(module(inputs), target)


OF_TORCH = {"lstm": lstm, "transformer-encoder": transformer_encoder, "mlp": mlp}
SOURCES = {"torchvision": from_torchvision, "timm": from_timm, "transformers": from_transformers,
           "torch": lambda torch, row: OF_TORCH[row.model](torch, row)}
