# SPDX-License-Identifier: Apache-2.0
"""The machine of the catalogue (simulate/catalogue) that a table means by its words."""
import dataclasses
import json
import pathlib
import re

CATALOGUE = pathlib.Path(__file__).resolve().parents[2] / "simulate/catalogue"
GPUS = json.loads((CATALOGUE / "gpus.json").read_text(encoding="utf-8"))["gpus"]
NODES = json.loads((CATALOGUE / "machines.json").read_text(encoding="utf-8"))["nodes"]
NETWORKS = json.loads((CATALOGUE / "machines.json").read_text(encoding="utf-8"))["networks"]

# Machines to rent, by the GPUs that their owners name.
RENTED = {"p3.16xlarge": "dgx-1-16gb", "p3dn.24xlarge": "dgx-1", "p4d.24xlarge": "dgx-a100-40gb", "p4de.24xlarge": "dgx-a100",
          "p5.48xlarge": "dgx-h100", "p5en.48xlarge": "hgx-h200"}
NCCL_SHARE = 0.12  # GB/s that NCCL counts for a Gb/s of a network (src/graph/topo.h)
MOST_SLOTS = 16    # of a box; more GPUs are several nodes
NAMED_SPEEDS = {"fdr": 56, "edr": 100, "hdr": 200, "ndr": 400}
COMPOSED = re.compile(r"[a-z0-9-]+x\d+@[a-z0-9-]+")


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str  # of the catalogue, composed for several nodes
    # (part, key, value) of its description that the table says otherwise
    changes: tuple = ()
    assumed: tuple = ()  # what the table does not say, in words

    @property
    def node(self):
        return NODES[re.sub(r"x\d+@.*", "", self.name)]

    @property
    def kind(self):
        """Machines of one kind differ in the size of memory and the number of nodes."""
        return re.sub(r"-\d+gb$", "", re.sub(r"x\d+@.*", "", self.name))

    @property
    def gpus_of_node(self):
        return next((value for _, key, value in self.changes if key == "gpus"), self.node["gpus"]["value"])

    @property
    def exchanges_through_host(self):
        return "peer_link" not in self.node


class Unknown(ValueError):
    """No machine of the catalogue is meant; says why."""


def squeezed(words):
    return re.sub(r"[^a-z0-9]", "", words.lower())


def short_name(gpu):
    """'a100' of 'A100 SXM4 40GB', '2080ti' of 'RTX 2080 Ti': what all ways to write a GPU's name have."""
    name = squeezed(re.sub(r" (SXM\d?|PCIe)\b| \d+GB\b", "", GPUS[gpu]["name"]))
    return name.removeprefix("rtx") if re.search(r"\d{4}", name) else name


def says(words, pattern):
    return re.search(pattern, words, re.IGNORECASE) is not None


def memory_of(words):
    """GB, or None; a bandwidth is no memory."""
    found = re.search(r"\b(\d+) ?Gi?B\b(?![/p])", words)
    return int(found.group(1)) if found else None


def gpus_meant(words):
    """GPUs by the longest short name that the words have."""
    text = squeezed(words)
    found = [gpu for gpu in GPUS if re.search(rf"(?<!g){short_name(gpu)}", text)]
    longest = max((len(short_name(gpu)) for gpu in found), default=0)
    return [gpu for gpu in found if len(short_name(gpu)) == longest]


def node_words(node):
    """'dgx1' of 'dgx-1-16gb'."""
    return squeezed(re.sub(r"-(\d+gb|p100)$", "", node))


def fits(node, words):
    """How many of the words speak for a node, or None where one speaks against it."""
    gpu = GPUS[NODES[node]["gpu"]]["name"]
    bridged = says(words, r"nvlink|nvswitch") and not says(words, r"(no|without|w/o|lacks?) (nvlink|nvswitch|bridge)")
    is_pcie = says(words, r"pci-?e") and not bridged
    has_nvlink = NODES[node].get("nccl", {}).get("path", {}).get("value") == "nvlink"
    if (is_pcie and has_nvlink) or ((bridged or says(words, r"sxm|\b[dh]gx")) and not has_nvlink):
        return None
    memory = memory_of(words)
    score = 4 * (node_words(node) in squeezed(words)) + (says(words, "nvswitch") and "NVSwitch" in NODES[node]["what"])
    if memory is not None and says(gpu + " ", rf"\b{memory}GB "):
        score += 2
    return score


def node_meant(words):
    rented = next((node for name, node in RENTED.items() if name in words.lower()), None)
    if rented:
        return rented
    exact = next((node for node in sorted(NODES, key=len, reverse=True) if re.search(rf"(?<![\w-]){re.escape(node)}(?![\w-])", words.lower())), None)
    gpus = gpus_meant(words)
    if exact and not gpus:
        return exact
    nodes = [node for node in NODES if NODES[node]["gpu"] in gpus] or [node for node in NODES if node.startswith("dgx") and node_words(node) in squeezed(words)]
    if not nodes:
        raise Unknown(f"no GPU of the catalogue is named in '{words}' (tandem list hardware)")
    scored = [(fits(node, words), node) for node in nodes]
    scored = [one for one in scored if one[0] is not None]
    if not scored:
        raise Unknown(f"the catalogue has {', '.join(nodes)}, and none is as '{words}' says (tandem list hardware)")
    best = max(score for score, _ in scored)
    return next(node for score, node in scored if score == best)


def network_meant(words):
    """(a network of the catalogue with its links, GB/s of a node where the catalogue has no such speed), or None."""
    found = re.search(r"(?:(\d+) ?[x×] ?)?(\d+) ?-?(?:Gb/s|Gbps|Gbit/s|Gbits?|GbE|Gb|gbps|G)\b", words)
    named = next((name for name in NAMED_SPEEDS if says(words, rf"\b{name}\b")), None)
    if not found and not named:
        return None
    links = int(found.group(1) or 1) if found else 1
    speed = int(found.group(2)) if found else NAMED_SPEEDS[named]
    is_plain = says(words, r"ethernet|gbe\b|\btcp\b") and not says(words, r"roce|rdma|efa\b|infiniband")
    kind = "eth" if is_plain else "efa" if says(words, r"\befa\b") else "ib"
    known = {int(re.search(r"\d+", name).group()): name for name in NETWORKS if name.startswith(kind)}
    nearest = min(known, key=lambda one: abs(one - speed))
    name = known[nearest] if links == 1 else f"{links}x{known[nearest]}"
    return name, None if nearest == speed else NCCL_SHARE * speed * links


def nodes_told(words):
    """The number of nodes, or None: '4 nodes of 8x B200', '2x DGX A100'."""
    found = re.search(r"\b(\d+) ?(?:x ?)?(?:nodes|machines|servers|hosts)\b|\b(\d+) ?[x×] ?(?=[dh]gx)", words, re.IGNORECASE)
    return int(found.group(1) or found.group(2)) if found else None


def ranks_told(words, machine):
    """GPUs in all that words such as '4 nodes of 8x B200' or 'RTX 3090 x4' name; else all of the machine."""
    of_node = re.search(r"(?<![-\d.])\b(\d+) ?[x×]? ?(?:NVIDIA |Tesla |GeForce |Quadro )*(?=[A-Z]{1,2}\d|TITAN|RTX)|\b[x×] ?(\d+)\b(?! ?G)", words)
    nodes = nodes_told(words) or 1
    if of_node:
        stated = int(of_node.group(1) or of_node.group(2))
        return stated if stated > machine.gpus_of_node else nodes * stated  # else they are those of all nodes
    total = re.search(r"\b(\d+) GPUs\b", words)
    if total:
        return int(total.group(1))
    return machine.gpus_of_node * int((re.search(r"x(\d+)@", machine.name) or [0, 1])[1])


def cluster(node, nodes, words):
    """Several nodes, by the network that the words have or by the usual one of such nodes."""
    stated, assumed = network_meant(words), ()
    if stated is None:
        usual = NODES[node].get("usual_network")
        if usual is None:
            raise Unknown(f"{nodes} nodes of {node}, and '{words}' does not say what joins them")
        stated, assumed = (usual, None), (f"{nodes} nodes joined by {usual}",)
    name, bandwidth = stated
    changes = (("network", "bandwidth", f"{bandwidth:g}GBps"),) if bandwidth else ()
    return Machine(f"{node}x{nodes}@{name}", changes, assumed)


def machine_meant(words, devices=1):
    """The machine for so many devices; throws Unknown with the reason."""
    composed = COMPOSED.search(words)
    if composed:
        node = re.sub(r"x\d+@.*", "", composed.group())
        network = re.sub(r".*@(\d+x)?", "", composed.group())
        if node not in NODES or network not in NETWORKS:
            raise Unknown(f"the catalogue has no {composed.group()} (tandem list hardware)")
        return Machine(composed.group())
    node = node_meant(words)
    slots, nodes = NODES[node]["gpus"]["value"], nodes_told(words)
    if nodes is None and devices <= slots:
        return Machine(node)
    if nodes is None and devices <= MOST_SLOTS and "box" in node:
        return Machine(node, (("node", "gpus", devices),), (f"a box of {devices}",))
    nodes = nodes or -(-devices // slots)
    if nodes == 1:
        return Machine(node)
    return cluster(node, nodes, words)
