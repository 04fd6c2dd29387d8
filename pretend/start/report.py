# SPDX-License-Identifier: Apache-2.0
"""The verdict about a job's communicators, in words: what is found, and a line per rank concerned."""
import dataclasses
import time

from matcher import POINT_TO_POINT, Outlook


def ordinal(number):
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def rank_of(process):
    """The process's rank in the job: as its launcher says, else in its largest communicator."""
    if process.rank is not None:
        return process.rank
    return max(process.endpoints.values(), key=lambda endpoint: endpoint.communicator.ranks).rank


def rank_of_call(call):
    """The rank of its process, or of the communicator where the process has several ranks of that."""
    communicator, process = call.endpoint.communicator, call.endpoint.process
    shared = [endpoint for endpoint in communicator.endpoints.values() if endpoint.process is process]
    return call.endpoint.rank if len(shared) > 1 else rank_of(process)


def numbered(call):
    if call.operation == "join":
        return f"making communicator {call.endpoint.communicator.label}"
    return f"{ordinal(call.ordinal)} {call.operation}"


def in_words(call):
    return numbered(call) if call.operation == "join" else f"the {numbered(call)}"


def described(call):
    communicator = call.endpoint.communicator
    if call.operation == "join":
        return f"{numbered(call)} of {communicator.ranks} ranks"
    words = [numbered(call)]
    if call.operation != "split":
        words += [call.count, call.type]
    if call.root >= 0:
        other = communicator.endpoints.get(call.root)
        words += ["peer" if call.operation in POINT_TO_POINT else "root", rank_of(other.process) if other else call.root]
    return " ".join(map(str, words)) + f" on communicator {communicator.label}"


def joined(ranks):
    ranks = sorted(ranks)
    return f"rank {ranks[0]}" if len(ranks) == 1 else "ranks " + ", ".join(map(str, ranks))


@dataclasses.dataclass
class Finding:
    kind: str
    sentence: str
    states: list  # (rank, state, call or None, process or None for whose line now)

    def processes(self):
        return [process for *_, process in self.states if process is not None and process.ended is None]

    def text(self):
        lines = [f"pretended GPUs: {self.kind}: {self.sentence}"]
        for rank, state, call, process in sorted(self.states, key=lambda one: one[0]):
            line = None
            if process is not None:
                line = process.line or "line unknown"
            elif state == "called":
                line = call.line if call.line != "-" else "line unknown"
            words = [state] + ([described(call)] if call else [])
            lines.append(f"  rank {rank}: " + "; ".join(words) + (f": {line}" if line else ""))
        return "\n".join(lines)


def state_of_caller(call):
    process = call.endpoint.process
    if process.ended is not None:
        return (rank_of_call(call), f"ended with {process.ended}", call, None)
    if process.waits or call.operation == "join":  # a join is its own wait
        return (rank_of_call(call), "waits", call, process)
    return (rank_of_call(call), "called", call, None)


def about_mismatch(slot):
    calls = list(slot.calls.values())
    other = calls[-1]
    one = next(call for call in calls if call.what() != other.what())
    key = next(key for key, value in one.what().items() if value != other.what()[key])
    label = slot.communicator.label
    if key == "reduction":  # in numbers of NCCL, which nobody writes
        names = ["sum", "product", "max", "min", "average"]
        values = [names[call.reduction] if call.reduction < len(names) else "of its own" for call in (one, other)]
    else:
        values = [call.what()[key] for call in (one, other)]
    sentence = (f"the {key} of a call on communicator {label} differs: {values[0]} in the {numbered(one)} of rank {rank_of_call(one)}, "
                f"{values[1]} in the {numbered(other)} of rank {rank_of_call(other)}")
    return Finding("differs", sentence, [(rank_of_call(call), "called", call, None) for call in calls])


def about_end(slot, ended):
    calls = list(slot.calls.values())
    label = slot.communicator.label
    waiting = [call for call in calls if call.endpoint.process.waits and call.endpoint.process.ended is None]
    first = (waiting or calls)[0]
    operation = first.operation if first.operation not in POINT_TO_POINT else next(
        name for name in POINT_TO_POINT if name != first.operation)
    states = [state_of_caller(call) for call in calls]
    for process in ended:
        mine = [endpoint for endpoint in process.endpoints.values() if endpoint.communicator is slot.communicator]
        anywhere = [endpoint.last for endpoint in (mine or process.endpoints.values()) if endpoint.last]
        states.append((rank_of(process), f"ended with {process.ended}", anywhere[-1] if anywhere else None, None))
    process = ended[0]
    mine = next((endpoint for endpoint in process.endpoints.values() if endpoint.communicator is slot.communicator), None)
    made = mine.made[operation] if mine else 0
    after = (f"before communicator {label} was made" if first.operation == "join" else
             f"after {made} {operation}{'' if made == 1 else 's'} on communicator {label}")
    verb = "waits in" if waiting or first.operation == "join" else "has made"
    what = "making it" if first.operation == "join" else f"the {ordinal(first.ordinal)}" + (
        "" if operation == first.operation else f" {first.operation}")
    return Finding("ended", f"rank {rank_of(process)} ended {after}; rank {rank_of_call(first)} {verb} {what}", states)


def facing_peers(calls):
    """Two calls of one communicator, a send to a rank and that rank's receive from another one, or None."""
    for call in calls:
        for other in calls:
            if (call.endpoint.communicator is other.endpoint.communicator and call.operation in POINT_TO_POINT
                    and other.operation in POINT_TO_POINT and call.operation != other.operation
                    and call.root == other.endpoint.rank and other.root != call.endpoint.rank):
                return call, other
    return None


def about_deadlock(outlook):
    calls = {process: outlook.stuck_call(process) for process in outlook.processes}
    states = [(rank_of_call(call), "waits", call, process) for process, call in calls.items()]
    cycle, is_crossed = outlook.cycle()
    if not states:  # the devices wait, and no host yet
        states = [(rank_of_call(call), "called", call, None) for slot in cycle for call in slot.calls.values()]
    facing = facing_peers(list(calls.values()))
    if facing:
        one, other = facing
        return Finding("differs", f"the peer of a call on communicator {one.endpoint.communicator.label} differs: rank {rank_of_call(one)} is in "
                       f"its {described(one)}, rank {rank_of_call(other)} in its {described(other)}", states)
    labels = sorted({slot.communicator.label for slot in cycle})
    if len(labels) > 1:
        return Finding("order", f"communicators {' and '.join(map(str, labels))} are used in crossed order, and each rank waits inside "
                       "another's call", states)
    if is_crossed:
        return Finding("order", f"calls on communicator {labels[0]} stand in crossed order, and each rank waits inside another's call", states)
    verb = "waits" if len(states) == 1 else "wait"
    return Finding("waits", f"{joined(rank for rank, *_ in states)} {verb} for calls that no rank will make any more", states)


def about_lateness(matcher, first):
    """`first` is a wait that lasts too long, or lasted so for a process that gave up."""
    late, seen, open_waits = [], {first.process}, [first]
    while open_waits:
        for call in open_waits.pop().open_calls():
            for rank in call.slot.missing():
                process = matcher.process_of(call.slot.communicator, rank)
                if process is None or process in seen or process.ended is not None:
                    continue
                seen.add(process)
                open_waits.extend(process.waits)
                late.extend([] if process.waits else [process])
    states = [(rank_of(process), "late", None, process) for process in late]
    for process in matcher.processes:
        if process.waits and (process.ended is None or process is first.process):
            states.append(state_of_caller(process.waits[0].open_calls()[0]))
    call = first.open_calls()[0]
    who = joined(rank_of(process) for process in late) if late else "a rank that is not known yet"
    verb = "are" if len(late) > 1 else "is"
    waits = "gave up after" if first.process.ended else "has waited"
    seconds = time.monotonic() - first.since
    return Finding("suspected", f"{who} {verb} late: rank {rank_of_call(call)} {waits} {seconds:.0f} s in {in_words(call)}", states)


def certain(matcher):
    """What is wrong for certain, or None."""
    if matcher.differs is not None:
        return about_mismatch(matcher.differs)
    outlook = Outlook(matcher)
    if not outlook.slots:
        return None
    found = outlook.ended_slot()
    return about_end(*found) if found else about_deadlock(outlook)


def suspected(matcher, patience):
    for process in matcher.processes:
        for wait in process.waits:
            gave_up = process.ended == "signal 6"
            if gave_up or process.ended is None and time.monotonic() - wait.since > patience:
                return about_lateness(matcher, wait)
    return None
