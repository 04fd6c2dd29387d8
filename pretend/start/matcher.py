# SPDX-License-Identifier: Apache-2.0
"""Matches the calls of communicators across ranks, and knows which of them can never be complete.

A call begins once the calls that stand before it in its process are complete: those of its stream, those of events that the
stream waits for, and the last one of its communicator. Collectives of a communicator match by their order, sends and receives
by their order between two ranks. Matched calls are complete once all of them have begun. A process that waits makes no call;
one that has ended never does.
"""
import collections
import math
import time

POINT_TO_POINT = ("send", "receive")
COMES_AGAIN = 1.0  # seconds in which a rank's next Python may follow one that ended well without a communicator


class Process:
    def __init__(self, rank=None, world=None):
        self.rank = rank  # of the job, as its launcher says
        self.world = world
        self.endpoints = {}  # by the process's number of the communicator
        self.waits = []
        self.ended = None  # how: "exit status 1", "signal 9"
        self.ended_at = 0.0
        self.line = None  # where the main thread is
        self.main_waits = False  # for its own threads, by that line

    def may_come_again(self):
        """Whether another process may be this rank yet: its command may be a script that runs several."""
        return self.ended == "exit status 0" and not self.endpoints and time.monotonic() - self.ended_at < COMES_AGAIN

    def is_blocked(self):
        return any(wait.main or self.main_waits for wait in self.waits)


class Communicator:
    def __init__(self, label, ranks):
        self.label = label
        self.ranks = ranks
        self.endpoints = {}  # by rank
        self.slots = {}  # incomplete ones, by key


class Endpoint:
    """One rank of a communicator, in its process."""

    def __init__(self, communicator, rank, process, number):
        self.communicator, self.rank, self.process, self.number = communicator, rank, process, number
        self.pending = {}  # calls that are not complete, by number, oldest first
        self.calls = 0
        self.done = 0  # this call and those before it are complete
        self.made = collections.Counter()  # by operation
        self.keys = collections.Counter()  # where its next call goes
        self.dependents = {}  # by number of a call, what waits for it
        self.last = None


class Dependent:
    """What waits for calls of its process: `before` is [(endpoint, number), ...]."""

    def depend(self, before):
        self.before = [(endpoint, number) for endpoint, number in before if endpoint.done < number]
        self.outstanding = len(self.before)
        for endpoint, number in self.before:
            endpoint.dependents.setdefault(number, []).append(self)


class Wait(Dependent):
    def __init__(self, process, main):
        self.process, self.main, self.since = process, main, time.monotonic()

    def open_calls(self):
        """The calls that are not complete, those that have begun first."""
        return sorted((call for endpoint, number in self.before for call in endpoint.pending.values() if call.number <= number),
                      key=lambda call: call.outstanding > 0)


class Call(Dependent):
    def __init__(self, endpoint, operation, count, kind, reduction, root, line):
        self.endpoint, self.operation, self.count, self.type, self.reduction, self.root = endpoint, operation, count, kind, reduction, root
        self.line = line
        endpoint.calls += 1
        endpoint.made[operation] += 1
        self.number = endpoint.calls
        self.ordinal = endpoint.made[operation]
        self.done = False

    def slot_key(self):
        """Where the call is matched, its place there, and the ranks of all places."""
        mine, keys = self.endpoint.rank, self.endpoint.keys
        if self.operation in POINT_TO_POINT:
            pair = (mine, self.root) if self.operation == "send" else (self.root, mine)
            keys[self.operation, self.root] += 1
            return (*pair, keys[self.operation, self.root]), self.operation, dict(zip(POINT_TO_POINT, pair))
        keys["collective"] += 1
        return keys["collective"], mine, {rank: rank for rank in range(self.endpoint.communicator.ranks)}

    def what(self):
        if self.operation in POINT_TO_POINT:
            return {"count": self.count, "type": self.type}
        return {"operation": self.operation, "count": self.count, "type": self.type, "reduction": self.reduction, "root": self.root}


class Slot:
    """Calls that match, by place; `ranks` has the rank of each place."""

    def __init__(self, communicator, key, ranks):
        self.communicator, self.key, self.ranks = communicator, key, ranks
        self.calls = {}

    def missing(self):
        return [rank for place, rank in self.ranks.items() if place not in self.calls]


class Matcher:
    def __init__(self, tell=lambda process, number, call: None):
        self.tell = tell  # that calls of a process's communicator are complete
        self.processes = []
        self.communicators = {}  # by name
        self.differs = None  # the first slot whose calls do not match

    def hello(self, process):
        """A process of a rank is known, unless another has the rank already."""
        self._forget_earlier_job(process)
        if not any(known.rank == process.rank and known.rank is not None for known in self.processes):
            self.processes.append(process)

    def _forget_earlier_job(self, process):
        """A rank that ended and comes again is another job's, or its launcher's next try, and so are all others."""
        if any(known.ended and known.rank == process.rank is not None for known in self.processes):
            self.processes = [known for known in self.processes if known.ended is None]

    def forget(self, process):
        if process in self.processes:
            self.processes.remove(process)

    def join(self, process, number, name, rank, ranks, line="-"):
        self._forget_earlier_job(process)
        # A rank is the process that joins, not the shell that started it.
        self.processes = [known for known in self.processes if known is process or known.endpoints or known.rank != process.rank
                          or known.rank is None]
        if process not in self.processes:
            self.processes.append(process)
        communicator = self.communicators.setdefault(name, Communicator(len(self.communicators) + 1, ranks))
        endpoint = communicator.endpoints[rank] = process.endpoints[number] = Endpoint(communicator, rank, process, number)
        self._make(Call(endpoint, "join", 0, "other", 0, -1, line), [])

    def call(self, process, number, operation, count, kind, reduction, root, before, line="-"):
        self._make(Call(process.endpoints[number], operation, count, kind, reduction, root, line), self._endpoints(process, before))

    def wait(self, process, main, before):
        wait = Wait(process, main)
        wait.depend(self._endpoints(process, before))
        if wait.outstanding:
            process.waits.append(wait)

    def leave(self, process, number, aborted):
        if aborted:
            endpoint = process.endpoints[number]
            endpoint.pending.clear()
            for slot in self._finish(endpoint, math.inf):
                self._complete_if_begun(slot)

    def end(self, process, how):
        process.ended, process.ended_at = how, time.monotonic()

    def _endpoints(self, process, before):
        return [(process.endpoints[number], call) for number, call in before]

    def _make(self, call, before):
        endpoint = call.endpoint
        endpoint.pending[call.number] = endpoint.last = call
        key, place, ranks = call.slot_key()
        slots = endpoint.communicator.slots
        call.slot = slot = slots.setdefault(key, Slot(endpoint.communicator, key, ranks))
        slot.calls[place] = call
        if self.differs is None and any(other.what() != call.what() for other in slot.calls.values()):
            self.differs = slot
        call.depend(before)
        if not call.outstanding:
            self._complete_if_begun(slot)

    def _complete_if_begun(self, slot):
        """Completes the slot, and what can begin by that."""
        begun = [slot]
        while begun:
            slot = begun.pop()
            is_done = slot.communicator.slots.get(slot.key) is not slot  # two of its calls have begun at once
            if is_done or len(slot.calls) < len(slot.ranks) or any(call.outstanding for call in slot.calls.values()):
                continue
            del slot.communicator.slots[slot.key]
            for call in slot.calls.values():
                call.done = True
            for call in slot.calls.values():
                begun.extend(self._advance(call.endpoint))

    def _advance(self, endpoint):
        done = endpoint.done
        while done + 1 in endpoint.pending and endpoint.pending[done + 1].done:
            done += 1
            del endpoint.pending[done]
        return self._finish(endpoint, done) if done > endpoint.done else []

    def _finish(self, endpoint, done):
        """Lets go what waited for calls up to `done`: returns the slots of calls that begin."""
        numbers = list(endpoint.dependents) if done == math.inf else range(endpoint.done + 1, done + 1)
        endpoint.done = done
        if endpoint.process.ended is None and done < math.inf:
            self.tell(endpoint.process, endpoint.number, done)
        begun = []
        for number in numbers:
            for dependent in endpoint.dependents.pop(number, ()):
                dependent.outstanding -= 1
                if dependent.outstanding:
                    continue
                if isinstance(dependent, Wait):
                    dependent.process.waits.remove(dependent)
                else:
                    begun.append(dependent.slot)
        return begun

    def slots(self):
        return [slot for communicator in self.communicators.values() for slot in communicator.slots.values()]

    def process_of(self, communicator, rank):
        """The process that is, or is to be, the communicator's rank; None where that is not known."""
        if rank in communicator.endpoints:
            return communicator.endpoints[rank].process
        return next((process for process in self.processes if process.world == communicator.ranks and process.rank == rank), None)


class Outlook:
    """What can still happen: slots that can be complete, and processes that can go on, found from those that wait for nothing.
    All others are stuck for certain."""

    def __init__(self, matcher):
        self.matcher = matcher
        self.live = [process for process in matcher.processes if process.ended is None]
        self.going = {process for process in self.live if not process.is_blocked()}
        self.completable = set()
        self.queues = {}
        open_slots = matcher.slots()
        before = -1
        while before < len(self.going) + len(self.completable):
            before = len(self.going) + len(self.completable)
            self.going.update(process for process in self.live if all(self.can_be_over(wait.before) for wait in process.waits))
            self.completable.update(slot for slot in open_slots if slot not in self.completable and self.can_complete(slot))
        self.slots = [slot for slot in open_slots if slot not in self.completable]
        self.processes = [process for process in self.live if process not in self.going]

    def first_stuck(self, endpoint, number):
        """The first call up to `number` that is not completable."""
        queue = self.queues.setdefault(endpoint, collections.deque(endpoint.pending.values()))
        while queue and queue[0].slot in self.completable:
            queue.popleft()
        return queue[0] if queue and queue[0].number <= number else None

    def can_be_over(self, before):
        return all(self.first_stuck(endpoint, number) is None for endpoint, number in before)

    def can_complete(self, slot):
        return (all(self.can_be_over(call.before) for call in slot.calls.values())
                and all(self.can_come(slot, rank) for rank in slot.missing()))

    def can_come(self, slot, rank):
        """Whether the rank may still make the slot's call. One that another thread of a caller is to make may always come."""
        process = self.matcher.process_of(slot.communicator, rank)
        if process is not None:
            is_caller = any(call.endpoint.process is process for call in slot.calls.values())
            return process in self.going or is_caller and process.ended is None or process.may_come_again()
        world = max((process.world or 0 for process in self.matcher.processes), default=0)
        members = [endpoint.process for endpoint in slot.communicator.endpoints.values()]
        others = [process for process in self.matcher.processes if process in self.going or process.may_come_again()]
        return not world or len(self.matcher.processes) < world or any(process not in members for process in others)

    def ended_slot(self):
        """A slot whose missing call an ended process never made, and those processes."""
        for slot in self.slots:
            processes = [self.matcher.process_of(slot.communicator, rank) for rank in slot.missing()]
            ended = [process for process in processes if process is not None and process.ended is not None]
            if None in processes:
                ended += [process for process in self.matcher.processes if process.ended is not None and not process.endpoints]
            if ended and not any(call.outstanding for call in slot.calls.values()):
                return slot, ended
        return None

    def stuck_call(self, process):
        """The call that the process waits for and that is never complete."""
        return next(call for wait in process.waits for call in wait.open_calls() if call.slot not in self.completable)

    def cycle(self):
        """Slots of which each waits for the next one, and whether a call of one stands before its turn in another."""
        seen, crossed = [], []
        slot = next((self.stuck_call(process).slot for process in self.processes), self.slots[0])
        while slot not in seen:
            seen.append(slot)
            slot, is_crossed = self.next_slot(slot)
            crossed.append(is_crossed)
        first = seen.index(slot)
        return seen[first:], any(crossed[first:])

    def next_slot(self, slot):
        for call in slot.calls.values():
            for endpoint, number in call.before:
                stuck = self.first_stuck(endpoint, number)
                if stuck is not None and stuck is not call:
                    return stuck.slot, True
        for rank in slot.missing():
            process = self.matcher.process_of(slot.communicator, rank)
            if process in self.processes:
                return self.stuck_call(process).slot, False
        return slot, False
