"""Second half of the script part: the random state that copies of an interpreter must not share.

Guests are copies of one interpreter: forks of a process, or copies of the memory of a
WebAssembly instance. A random generator that a module seeded while it was imported would
give all of them the same numbers, so one guest could predict those of another. Therefore
each copy seeds all generators again before its guest arrives.

Some state cannot be renewed. The secret of hash() belongs to the interpreter, because
every dict depends on it; fork servers and images are replaced regularly instead. Random
data that a module keeps as plain values, or inside a C library that is not listed here, is
not found.
"""
import sys


class Randomness:
    """Seeds the generators of this interpreter again. It is created after the last import
    and before gc.freeze(), which hides objects from the search.

    A session may import more before it is copied. Then the shared generators of those
    modules are renewed; generators that scripts create are their own business."""

    def __init__(self):
        self.known, self.renewals = set(), []
        self.learn(True)

    def renew(self):
        self.learn(False)
        for renewal in self.renewals:
            renewal()

    def learn(self, search):
        """Finds the generators of new modules and, with search, all hidden ones."""
        objects = None
        for name, renewals_of in SOURCES:
            module = sys.modules.get(name)
            if module is not None and name not in self.known:
                if objects is None:
                    objects = all_objects() if search else []
                self.known.add(name)
                self.renewals += renewals_of(module, objects)


def all_objects():
    """Returns all objects that the garbage collector tracks, and those that they refer to."""
    import gc

    objects = gc.get_objects()
    return objects + gc.get_referents(*objects)


def instances(objects, kind):
    """Returns the instances of a class. It does not ask an object for its __class__: a lazy
    proxy would import its module."""
    wanted = {found for found in set(map(type, objects)) if issubclass(found, kind)}
    return {id(value): value for value in objects if type(value) in wanted}.values() if wanted else ()


def entropy(size):
    import os

    return int.from_bytes(os.urandom(size), "little")


def renewals_of_random(random, objects):
    base = random.Random.__mro__[1]  # _random.Random has the state

    def renewal(value):
        def renew():
            if not issubclass(type(value), random.SystemRandom):
                # As hard to guess as the seed of seed(), which reads eighty
                # times as many bytes.
                base.seed(value, entropy(32))
            # gauss() draws two numbers and keeps one for the next call.
            if getattr(value, "gauss_next", None) is not None:
                value.gauss_next = None

        return renew

    return [renewal(value) for value in instances(objects + [random._inst], base)]


def renewals_of_numpy(random, objects):
    shared = random.mtrand._rand
    objects = objects + [shared, shared._bit_generator]

    def sequence(value):
        return lambda: value.__setstate_cython__(type(value)().__reduce_cython__()[2])

    def generator(value):
        return lambda: value.__setstate__(type(value)().__getstate__())

    def legacy(value):
        def forget_gauss():
            state = value.get_state(legacy=False)
            state["has_gauss"], state["gauss"] = 0, 0.0
            value.set_state(state)

        return forget_gauss

    # Renew the bit generator of a RandomState before its cached number is dropped.
    return [
        renewal(value)
        for kind, renewal in ((random.SeedSequence, sequence), (random.BitGenerator, generator), (random.RandomState, legacy))
        for value in instances(objects, kind)
    ]


def renewals_of_tempfile(tempfile, _):
    def renew():
        tempfile._name_sequence = None  # it detects forks by the process id, which is always 1

    return [renew]


# 3.14 added some of these.
UUID_STATE = (("_last_timestamp", None), ("_last_timestamp_v6", None), ("_last_timestamp_v7", None), ("_last_counter_v7", 0))


def renewals_of_uuid(uuid, _):
    def renew():
        if getattr(uuid, "_node", None) is not None:
            # Finding the real node again would start programs. Random nodes have
            # the multicast bit.
            uuid._node = entropy(6) | 1 << 40
        for name, value in UUID_STATE:
            if hasattr(uuid, name):
                setattr(uuid, name, value)

    return [renew]


def renewals_of_openssl(_ssl, _):
    # It also detects forks by the process id.
    return [lambda: _ssl.RAND_add(entropy(32).to_bytes(32, "little"), 32.0)]


def renewals_of_processes(process, _):
    def renew():
        process.current_process().authkey = entropy(32).to_bytes(32, "little")

    return [renew]


# Modules with their own random state. secrets, os.urandom() and uuid4() have none.
SOURCES = (
    ("random", renewals_of_random),
    ("numpy.random", renewals_of_numpy),
    ("tempfile", renewals_of_tempfile),
    ("uuid", renewals_of_uuid),
    ("_ssl", renewals_of_openssl),
    ("multiprocessing.process", renewals_of_processes),
)
