# SPDX-License-Identifier: Apache-2.0
"""A model of images from torchvision, with a loss and an optimizer, as a training script has them."""
import torch
import torchvision


def build():
    module = torchvision.models.resnet18(num_classes=10)
    images, labels = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    return module, (images, labels), torch.nn.CrossEntropyLoss(), optimizer
