# SPDX-License-Identifier: Apache-2.0
"""Models that measure_models takes, each with random weights and data: (module, function without arguments that gives the loss).

What is made lies on the device of the context, or the module on the host.
"""
import contextlib
import importlib

# Source, model, samples per step, pixels of a side or elements of a sequence, precision, layout, optimizer.
ROWS = """
torchvision resnet50 256 224 amp-bf16 channels-last sgd
torchvision resnet50 256 224 tf32 channels-first sgd
transformers bert-base 32 128 amp-bf16 - adamw
torchvision vit_b_16 128 224 amp-bf16 channels-first adamw
transformers gpt2 8 1024 amp-bf16 - adamw
torchvision efficientnet_b0 256 224 tf32 channels-first sgd
torchvision densenet121 128 224 amp-bf16 channels-last sgd
timm ghostnet_100 256 224 tf32 channels-first sgd
torchvision mobilenet_v2 256 224 amp-bf16 channels-last sgd
torchvision vgg16 128 224 tf32 channels-first sgd
torchvision resnet50 64 224 fp32 channels-first sgd
torchvision convnext_tiny 128 224 amp-bf16 channels-last adamw
torchvision swin_t 128 224 amp-bf16 channels-first adamw
timm hrnet_w18 64 224 tf32 channels-first sgd
transformers t5-small 32 512 tf32 - adamw
torchvision resnet152 256 224 amp-bf16 channels-last sgd
torchvision efficientnet_b4 64 380 tf32 channels-first sgd
timm mixer_b16_224 128 224 amp-bf16 channels-first adamw
torchvision regnet_y_8gf 128 224 tf32 channels-first sgd
torch lstm 64 128 fp32 - sgd
torch transformer-encoder 32 256 amp-bf16 - adamw
transformers llama-160m 8 1024 bf16 - adamw
torchvision resnet50 128 224 amp-fp16 channels-last sgd
torchvision resnet50 256 224 amp-bf16 channels-first sgd
transformers bert-base 32 512 tf32 - adamw
torchvision inception_v3 128 299 tf32 channels-first sgd
torchvision squeezenet1_1 256 224 tf32 channels-first sgd
timm resnest50d 128 224 amp-bf16 channels-last sgd
timm tf_efficientnetv2_s 128 300 amp-bf16 channels-last sgd
timm mobilenetv3_large_100 256 224 amp-bf16 channels-last sgd
timm deit_small_patch16_224 256 224 amp-bf16 channels-first adamw
transformers whisper-tiny 16 3000 amp-bf16 - adamw
transformers distilbert 64 128 amp-fp16 - adamw
torch mlp 4096 4096 amp-bf16 - sgd
torchvision deeplabv3_resnet50 16 512 amp-bf16 channels-last sgd
torchvision efficientnet_b0 256 224 amp-bf16 channels-last sgd
torchvision resnext50_32x4d 128 224 amp-bf16 channels-last sgd
transformers wav2vec2-base 8 80000 amp-bf16 - adamw
torchvision resnet50 256 224 tf32 channels-last sgd
transformers bert-base 32 128 fp32 - adamw
torchvision resnet50 64 224 amp-bf16 channels-last sgd
torchvision vit_b_16 64 224 tf32 channels-first adamw
torchvision shufflenet_v2_x1_0 256 224 tf32 channels-first sgd
transformers gpt2 8 1024 tf32 - adamw
torchvision resnet50 128 224 tf32 channels-first sgd
torchvision resnet18 256 224 amp-bf16 channels-last sgd
torchvision resnet18 32 224 tf32 channels-first sgd
torchvision convnext_tiny 64 224 tf32 channels-first adamw
transformers bert-base-mlm 64 128 amp-bf16 - adamw
torchvision resnet50 128 224 bf16 channels-last sgd
torchvision wide_resnet50_2 128 224 tf32 channels-first sgd
torch lstm 64 128 tf32 - sgd
torchvision alexnet 256 224 tf32 channels-first sgd
timm dm_nfnet_f0 64 192 amp-bf16 channels-first sgd
torchvision resnet50 128 224 fp32 channels-first sgd
torchvision mobilenet_v2 128 224 tf32 channels-first sgd
torchvision densenet121 64 224 tf32 channels-first sgd
torchvision mnasnet1_0 128 224 amp-fp16 channels-first sgd
timm regnety_080 128 224 amp-bf16 channels-last sgd
timm seresnet50 128 224 tf32 channels-first sgd
torch mlp 256 1024 fp32 - sgd
"""

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
