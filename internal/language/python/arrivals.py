"""Arguments of a script's special methods, and attribute names that are only known at run
time.

The interpreter and the library call special methods on their own: a comparison or a lookup
in a table passes one object to the other. An object that must never reach a script is
refused in the first lines of the method (rewrite.py), whoever passed it.
"""

HIDDEN_KINDS = frozenset((
    types.ModuleType, types.FrameType, types.CodeType, types.CellType, types.MappingProxyType, REAL_TYPE(sys.implementation),
))
HOME_OF = REAL_TYPE.__dict__["__module__"].__get__


class Arrivals:
    def is_shown_class(self, kind):
        """Whether scripts may see a class: one of a module that they see, or of the
        interpreter itself."""
        home = HOME_OF(kind)
        if kind in HIDDEN_KINDS or REAL_TYPE(home) is not str:
            return False
        home = home.partition(".")[0].lstrip("_")
        return home in ("builtins", "cordon", "abc", "collections") or home in self.modules

    def arrived(self, thing):
        kind = REAL_TYPE(thing)
        if kind in (dict, list, set):
            allowed = id(thing) not in self.inner
        elif REAL_TYPE in MRO_OF(kind):
            allowed = is_script_class(thing) or self.is_shown_class(thing)
        elif kind is FUNCTION:
            allowed = not self.is_library_function(thing) or id(thing) in self.given or GLOBALS_OF(thing) is GENERATED
        else:
            allowed = is_script_class(kind) or self.is_shown_class(kind)
        if not allowed:
            refuse("shared-object", "a special method received an internal object of the library")

    def all_arrived(self, things):
        for thing in things:
            self.arrived(thing)

    def learn_arrivals(self):
        """Records the containers and functions of the library."""
        self.arriving.update(self.kinds, (dict, list, set))
        self.inner = inner = {id(sys.modules)}
        for real in list(sys.modules.values()):
            space = attributes_of(real)
            if space is not None and space.get("__name__") != MAIN:
                inner.add(id(space))
                inner.update(id(value) for value in space.values() if REAL_TYPE(value) in (dict, list, set))
        self.given = {id(value) for facade in self.facades.values() for value in vars(facade).values()}

    # ---- attributes by name

    def checked_name(self, name, allowed):
        if REAL_TYPE(name) is not str:
            raise TypeError("attribute name must be string, not '%s'" % NAME_OF(REAL_TYPE(name)))
        if name in INNER or is_dunder(name) and name not in allowed or not name.isidentifier():
            refuse("attribute-by-string", "the attribute '%.100s' cannot be named by a string" % name)

    def get_attribute(self, thing, name, /, *default):
        self.checked_name(name, READABLE | {"__class__"})
        try:
            if name == "__class__":
                return typeof(thing)
            if name in FORMATTERS:
                return getattr(self.formatting(thing, name), name)
            if name in BY_STRING or name in COPIED or name == "__init__":
                return self.special(thing, name)
            if name in self.watched:
                self.private(thing, name)
            return getattr(thing, name)
        except AttributeError:
            if len(default) != 1:
                raise
            return default[0]

    def set_attribute(self, thing, name, value, /):
        self.checked_name(name, ASSIGNABLE)
        if name in self.watched:
            self.private(thing, name)
        setattr(self.own(thing), name, value)

    def delete_attribute(self, thing, name, /):
        self.checked_name(name, ())
        if name in self.watched:
            self.private(thing, name)
        delattr(self.own(thing), name)

    # ---- text as code

    def evaluate(self, source, globals=None, locals=None, /):
        """Evaluates an expression under the rules of the script."""
        text = exact_text(source, "what eval() evaluates").strip()
        tree = compile(text, "<eval>", "eval", PARSE_ONLY, True)
        findings = self.rules.findings(tree) or Rewriter(tree, self.watched, self.rules.reflects).rewrite()
        if findings:
            refuse(findings[0].rule, findings[0].reason)
        caller = sys._getframe(1)
        names = {}
        if globals is not None:
            names.update(globals)
        elif caller.f_globals.get("__builtins__") is self.builtins:  # not the library, to which a script passed eval
            names.update(caller.f_globals)
            names.update(caller.f_locals)
        if locals is not None:
            names.update(locals)
        names["__builtins__"] = self.builtins
        return eval(compile(tree, "<eval>", "eval", 0, True), names)
