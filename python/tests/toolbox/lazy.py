"""A module with code that runs when it is asked for a name."""


def __getattr__(name):
    raise SystemExit("a guest made this process run something")
