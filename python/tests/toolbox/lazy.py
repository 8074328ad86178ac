"""A module with code that runs when it is asked for a name."""


def __getattr__(name):
    if name == "anything":
        raise SystemExit("a guest made this process run something")
    raise AttributeError(name)
