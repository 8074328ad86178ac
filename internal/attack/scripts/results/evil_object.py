# attack: return an object that lies about what it is
# class: 14
# walls: environment pid seccomp
# expect: outcome:invalid_output
# naked: no the harness would refuse it, too

class Evil:
    __class__ = property(lambda self: dict)
    def __repr__(self):
        while True:
            pass
    def __reduce__(self):
        return (os.system, ("true",))
    def __getattr__(self, name):
        raise SystemExit(0)
    keys = items = __iter__ = __len__ = lambda self: (_ for _ in ()).throw(SystemExit(0))
    __json__ = default = lambda *a: {"escaped": True, "detail": "the object was believed"}

result = Evil()
