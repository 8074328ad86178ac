"""Second half of the script part: what copies of an interpreter must not have in common.

Guests are copies of one interpreter: forks of a process, or of the memory of a
WebAssembly instance. A generator of random numbers that a module seeded while it was
imported would give all of them the same numbers, and who knows its own could tell the
others'. So each copy seeds all of them anew before its guest comes.

Some of it cannot be made anew. The secret of hash() is the interpreter's own, because
every dict depends on it; fork servers and images are replaced instead. What a module
drew and kept as plain data, or inside a library in C that is not named here, is not
found.
"""
import sys


class Randomness:
    """What seeds the generators of this interpreter anew. It is made after the last
    import, and before gc.freeze(), which hides objects from the search.

    A session may import more before it is copied. Of that the generators are known that
    a module has for everybody; those that scripts make themselves are theirs."""

    def __init__(self):
        self.known, self.renewals = set(), []
        self.learn(True)

    def renew(self):
        self.learn(False)
        for renewal in self.renewals:
            renewal()

    def learn(self, search):
        """Learns of modules that came since, and with search of all that is hidden."""
        objects = None
        for name, renewals_of in SOURCES:
            module = sys.modules.get(name)
            if module is not None and name not in self.known:
                if objects is None:
                    objects = all_objects() if search else []
                self.known.add(name)
                self.renewals += renewals_of(module, objects)


def all_objects():
    """All objects that the garbage collector tracks, and those that they refer to."""
    import gc

    objects = gc.get_objects()
    return objects + gc.get_referents(*objects)


def instances(objects, kind):
    """Those of a kind. An object is not asked for its class: a proxy would import what
    it stands for."""
    wanted = {found for found in set(map(type, objects)) if issubclass(found, kind)}
    return {id(value): value for value in objects if type(value) in wanted}.values() if wanted else ()


def entropy(size):
    import os

    return int.from_bytes(os.urandom(size), "little")


def of_random(random, objects):
    base = random.Random.__mro__[1]  # _random.Random, whose state it is

    def renewal(value):
        def renew():
            if not issubclass(type(value), random.SystemRandom):
                # As hard to guess as what seed() takes, which reads eighty times as many bytes.
                base.seed(value, entropy(32))
            # gauss() draws two numbers, and keeps one for the next call.
            if getattr(value, "gauss_next", None) is not None:
                value.gauss_next = None

        return renew

    return [renewal(value) for value in instances(objects + [random._inst], base)]


def of_numpy(random, objects):
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

    # What a RandomState draws from is renewed before what it has drawn is forgotten.
    return [
        renewal(value)
        for kind, renewal in ((random.SeedSequence, sequence), (random.BitGenerator, generator), (random.RandomState, legacy))
        for value in instances(objects, kind)
    ]


def of_tempfile(tempfile, _):
    def renew():
        tempfile._name_sequence = None  # it compares process ids, which are all 1

    return [renew]


# Since 3.14 there are more of them.
UUID_STATE = (("_last_timestamp", None), ("_last_timestamp_v6", None), ("_last_timestamp_v7", None), ("_last_counter_v7", 0))


def of_uuid(uuid, _):
    def renew():
        if getattr(uuid, "_node", None) is not None:
            # To find it again would start programs. Random ones have the multicast bit.
            uuid._node = entropy(6) | 1 << 40
        for name, value in UUID_STATE:
            if hasattr(uuid, name):
                setattr(uuid, name, value)

    return [renew]


def of_openssl(_ssl, _):
    # It compares process ids, too, to notice a fork.
    return [lambda: _ssl.RAND_add(entropy(32).to_bytes(32, "little"), 32.0)]


def of_processes(process, _):
    def renew():
        process.current_process().authkey = entropy(32).to_bytes(32, "little")

    return [renew]


# Modules with random state of their own. secrets, os.urandom() and uuid4() have none.
SOURCES = (
    ("random", of_random),
    ("numpy.random", of_numpy),
    ("tempfile", of_tempfile),
    ("uuid", of_uuid),
    ("_ssl", of_openssl),
    ("multiprocessing.process", of_processes),
)
