# SPDX-License-Identifier: Apache-2.0
"""Architectures that people train, in their usual sizes and without weights: of torchvision and of Hugging Face."""
import functools

import torch

OF_TORCHVISION = ["resnet18", "resnet50", "resnet152", "vgg16", "densenet121", "mobilenet_v2", "vit_b_16", "convnext_tiny"]
POSITIONS = 128
SAMPLES = 2


def of_images(name):
    import torchvision

    classes = 1000
    module = torchvision.models.get_model(name, weights=None)
    images, labels = torch.randn(SAMPLES, 3, 224, 224), torch.randint(classes, (SAMPLES,))
    return module, (images, labels), torch.nn.CrossEntropyLoss()


def of_tokens(module, of_each_token):
    """Its output holds the loss: a label for each token, or for each sample."""
    shape = (SAMPLES, POSITIONS)
    labels = torch.randint(1000, shape) if of_each_token else torch.randint(2, shape[:1])
    return module, {"input_ids": torch.randint(1000, shape), "labels": labels}


def gpt2():
    import transformers

    return of_tokens(transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)), True)


def bert_base():
    import transformers

    return of_tokens(transformers.BertForSequenceClassification(transformers.BertConfig()), False)


def distilbert():
    import transformers

    return of_tokens(transformers.DistilBertForMaskedLM(transformers.DistilBertConfig()), True)


def t5_small():
    import transformers

    config = transformers.T5Config(d_model=512, d_ff=2048, d_kv=64, num_layers=6, num_heads=8, use_cache=False,
                                   decoder_start_token_id=0)
    return of_tokens(transformers.T5ForConditionalGeneration(config), True)


OF_HUGGING_FACE = [gpt2, bert_base, distilbert, t5_small]
for architecture in OF_TORCHVISION:
    globals()[architecture] = functools.partial(of_images, architecture)
