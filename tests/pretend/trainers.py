# SPDX-License-Identifier: Apache-2.0
"""Steps of a small model under the trainers that people use, each started by a launcher of its own.

    LAUNCHER... trainers.py hf|accelerate|lightning|deepspeed|fsdp2

Each rank prints one line at its end: its number, that of ranks and of steps.
"""
import os
import sys

import torch
from torch import nn

STEPS, BATCH = 2, 4


def perceptron():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))


def samples():
    return torch.utils.data.TensorDataset(torch.randn(64, 16), torch.randint(4, (64,)))


def say(rank, ranks, steps):
    print(f"trained: rank {rank} of {ranks}, {steps} steps", flush=True)


def hf():
    """The Trainer of transformers, whose ranks gather their losses and end with a checkpoint of rank 0."""
    import tempfile

    import transformers

    class WithLoss(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = perceptron()

        def forward(self, x, labels):
            logits = self.layers(x)
            return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    data = [{"x": x, "labels": label} for x, label in samples()]
    with tempfile.TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(output_dir=folder, max_steps=STEPS, per_device_train_batch_size=BATCH, logging_steps=1,
                                                 save_steps=STEPS, eval_strategy="steps", eval_steps=STEPS, report_to=[])
        trainer = transformers.Trainer(WithLoss(), options, train_dataset=data, eval_dataset=data)
        trainer.train()
        say(options.process_index, options.world_size, trainer.state.global_step)
        trainer.accelerator.end_training()


def accelerate():
    """A loop of one's own on Accelerate, with its gathered metrics and objects."""
    import accelerate as library

    accelerator = library.Accelerator()
    model = perceptron()
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters()),
                                                   torch.utils.data.DataLoader(samples(), batch_size=BATCH))
    for step, (x, labels) in enumerate(loader):
        if step == STEPS:
            break
        loss = nn.functional.cross_entropy(model(x), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.gather_for_metrics(loss.detach())
    ranks = library.utils.gather_object([accelerator.process_index])
    say(accelerator.process_index, len(ranks), STEPS)
    accelerator.end_training()


def lightning():
    """Lightning's Trainer, which starts the second rank by itself."""
    import lightning as library

    class Module(library.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = perceptron()

        def training_step(self, batch, _):
            loss = nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
            self.log("loss", loss, sync_dist=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    trainer = library.Trainer(strategy="ddp", accelerator="gpu", devices=2, max_steps=STEPS, logger=False, enable_checkpointing=False,
                              enable_progress_bar=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(samples(), batch_size=BATCH))
    say(trainer.global_rank, trainer.world_size, trainer.global_step)


def deepspeed():
    """DeepSpeed's ZeRO of stage 1, with torch's optimizer, since its own would be compiled."""
    import deepspeed as library

    model = perceptron()
    engine, _, _, _ = library.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config={
        "train_micro_batch_size_per_gpu": BATCH, "zero_optimization": {"stage": 1}, "zero_allow_untested_optimizer": True})
    for _ in range(STEPS):
        x, labels = torch.randn(BATCH, 16, device=engine.device), torch.randint(4, (BATCH,), device=engine.device)
        engine.backward(nn.functional.cross_entropy(engine(x), labels))
        engine.step()
    say(engine.global_rank, engine.world_size, engine.global_steps)
    library.comm.destroy_process_group()


def fsdp2():
    """torch's fully_shard."""
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = perceptron().cuda()
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        model(torch.randn(BATCH, 16, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    say(dist.get_rank(), dist.get_world_size(), STEPS)
    dist.destroy_process_group()


if __name__ == "__main__":
    {"hf": hf, "accelerate": accelerate, "lightning": lightning, "deepspeed": deepspeed, "fsdp2": fsdp2}[sys.argv[-1]]()  # the launcher of DeepSpeed puts --local_rank before
