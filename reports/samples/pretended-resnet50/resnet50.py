# SPDX-License-Identifier: Apache-2.0
"""torchvision's ResNet-50 as a training script has it; weights are random, since time does not depend on them."""
import torch
import torchvision


def build():
    module = torchvision.models.resnet50()
    images, labels = torch.randn(8, 3, 224, 224), torch.randint(1000, (8,))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    return module, (images, labels), torch.nn.CrossEntropyLoss(), optimizer
