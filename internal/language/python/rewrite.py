"""Inserts calls of the guards where the rules must check an object.

Most code is compiled as written. The rewritten forms are

    x.y = …           as  (x if type(x) not in KINDS else own(x)).y = …
    x._private        as  (x if type(x) not in KINDS else private(x, "_private"))._private
    x.format          as  formatting(x, "format").format
    x.__setattr__     as  special(x, "__setattr__")
    type(x)           as  typeof(x)
    x.__class__       as  typeof(x), where attributes may be named by strings
    def __eq__(self, other): …   begins with   if type(other) in ARRIVING: arrived(other)

The second form is used only if a class of the library has a private attribute of that name.
KINDS holds the types of objects that a script shares with others: for its own objects the
check costs one set lookup.

The guards have names that no script can write, so that no script can rebind them.
"""

KINDS, TYPE, ISINSTANCE = "@kinds", "@type", "@isinstance"
TYPEOF, OWN, PRIVATE, SPECIAL, FORMATTING = "@typeof", "@own", "@private", "@special", "@formatting"
ARRIVING, ARRIVED, ALL_ARRIVED = "@arriving", "@arrived", "@all_arrived"
THING = "@thing"  # a variable with the object to check

# Special methods that check their arguments: the interpreter and the library call them with
# objects that the script did not pass.
ARRIVALS = words("""
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __get__ __set__ __delete__ __set_name__
    __radd__ __rsub__ __rmul__ __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__ __rpow__
    __rlshift__ __rrshift__ __rand__ __rxor__ __ror__
""")

LOAD = _ast.Load()

MATCH_VALUE = getattr(_ast, "MatchValue", ())
MATCH_CLASS = getattr(_ast, "MatchClass", ())


def placed(new, old):
    """Gives a new node the position of the node that it replaces."""
    new.lineno, new.col_offset = old.lineno, old.col_offset
    new.end_lineno, new.end_col_offset = old.end_lineno, old.end_col_offset
    return new


def named(name, old):
    return placed(_ast.Name(name, LOAD), old)


def called(name, old, *args):
    return placed(_ast.Call(named(name, old), list(args), []), old)


def text(value, old):
    node = placed(_ast.Constant(value), old)
    node.kind = None
    return node


def passed_by(guard, node, *args, local=False):
    """Returns an expression for the object of node after the guard checked it. An object in
    a variable, or one that may be put into a local variable, is checked inline."""
    checked = thing = node
    if not isinstance(node, _ast.Name):
        if not local:
            return called(guard, node, node, *args)
        thing = named(THING, node)
        checked = placed(_ast.NamedExpr(placed(_ast.Name(THING, _ast.Store()), node), node), node)
    own = placed(_ast.Compare(called(TYPE, node, checked), [_ast.NotIn()], [named(KINDS, node)]), node)
    return placed(_ast.IfExp(own, thing, called(guard, node, thing, *args)), node)


def mangled(name, owner):
    """Returns the mangled name of self.__name inside a class."""
    if owner is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    owner = owner.lstrip("_")
    return "_%s%s" % (owner, name) if owner else name


FUNCTIONS = _ast.FunctionDef, _ast.AsyncFunctionDef
SCOPES = FUNCTIONS + (_ast.Lambda, _ast.ClassDef, _ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
BLOCKS = "body", "orelse", "handlers", "finalbody", "cases"


class CheckedStores:
    """Finds the stores that need no guard: to a local variable whose object a guard has
    already checked, in an earlier statement that is always executed."""

    def __init__(self, tree):
        self.stores = set()
        for node in every(tree):
            if isinstance(node, FUNCTIONS):
                self.locals = self.local_names(node)
                self.block(node.body, frozenset())

    def local_names(self, function):
        """Returns the variables that only the function itself can bind."""
        names, outer = set(), set()
        arguments = function.args  # not their defaults, which are evaluated outside
        for arg in arguments.posonlyargs + arguments.args + arguments.kwonlyargs + [arguments.vararg, arguments.kwarg]:
            names.update(bound_by(arg))
        stack = list(function.body)
        while stack:
            node = stack.pop()
            names.update(bound_by(node))
            if isinstance(node, (_ast.Global, _ast.Nonlocal)):
                outer.update(node.names)
            if not isinstance(node, SCOPES):
                stack.extend(children(node))
        for node in every(function):
            if isinstance(node, _ast.Nonlocal):
                outer.update(node.names)
        return names - outer

    def block(self, statements, seen):
        for statement in statements:
            bound = {name for node in every(statement) for name in bound_by(node)}
            fresh = set(seen) - bound
            for field in BLOCKS:
                if not isinstance(statement, SCOPES):
                    self.block(getattr(statement, field, ()), frozenset(fresh))
            for target in self.targets(statement):
                name = target.value.id
                if name in fresh:
                    self.stores.add(target)
                elif name in self.locals and name not in bound:
                    fresh.add(name)
            seen = fresh

    def targets(self, statement):
        """Returns the attributes of variables that a statement stores to, in order."""
        stack = []
        if isinstance(statement, _ast.Assign):
            stack = statement.targets[::-1]
        elif isinstance(statement, _ast.AugAssign) or isinstance(statement, _ast.AnnAssign) and statement.value is not None:
            stack = [statement.target]
        while stack:
            target = stack.pop()
            if isinstance(target, (_ast.Tuple, _ast.List)):
                stack.extend(target.elts[::-1])
            elif isinstance(target, _ast.Attribute) and isinstance(target.value, _ast.Name):
                if not target.value.id.startswith("__"):  # it is mangled in a class
                    yield target


class Rewriter:
    """Puts guards into a script that the rules allow."""

    def __init__(self, tree, watched, reflects):
        self.tree, self.watched, self.reflects, self.findings = tree, watched, reflects, []
        self.checked_stores = CheckedStores(tree).stores
        self.own_type = any("type" in bound_by(node) for node in every(tree))

    def rewrite(self):
        # Each node comes with the name of its class, for private names, and with
        # whether it is part of a function's own statements.
        stack = [(self.tree, None, False)]
        while stack:
            node, owner, local = stack.pop()
            inside = owner
            self.local = local = isinstance(node, FUNCTIONS) or local and not isinstance(node, SCOPES)
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(node, _ast.ClassDef):  # its decorators and bases are outside, if it has no type parameters
                    inside = node.name if field == "body" or getattr(node, "type_params", None) else owner
                if isinstance(value, _ast.AST):
                    value = self.guarded(value, node, inside)
                    setattr(node, field, value)
                    stack.append((value, inside, local))
                elif isinstance(value, list):
                    for i, item in enumerate(value):
                        if isinstance(item, _ast.AST):
                            value[i] = self.guarded(item, node, inside)
                            stack.append((value[i], inside, local))
            if isinstance(node, FUNCTIONS) and node.name in ARRIVALS:
                self.look_at_arguments(node)
            if isinstance(node, MATCH_CLASS):
                for name in node.kwd_attrs:
                    self.pattern(node, mangled(name, owner))
            if isinstance(node, _ast.ClassDef):
                for table, _ in match_tables_of(node):
                    for item in table.elts:
                        self.pattern(item, item.value)
        return self.findings

    def look_at_arguments(self, function):
        """Inserts the check of its arguments at the beginning of a special method."""
        arguments, looks = function.args, []
        for arg in (arguments.posonlyargs + arguments.args)[1:] + arguments.kwonlyargs:
            thing = named(arg.arg, arg)
            kept = placed(_ast.Compare(called(TYPE, arg, thing), [_ast.In()], [named(ARRIVING, arg)]), arg)
            looks.append(placed(_ast.If(kept, [placed(_ast.Expr(called(ARRIVED, arg, thing)), arg)], []), arg))
        for arg in filter(None, (arguments.vararg,)):
            looks.append(placed(_ast.Expr(called(ALL_ARRIVED, arg, named(arg.arg, arg))), arg))
        first = function.body[0]
        documented = isinstance(first, _ast.Expr) and isinstance(first.value, _ast.Constant) and isinstance(first.value.value, str)
        function.body[documented:documented] = looks

    def guarded(self, node, parent, owner):
        if isinstance(node, _ast.Attribute):
            return self.attribute(node, parent, mangled(node.attr, owner))
        if isinstance(node, _ast.Call) and not self.own_type:
            return self.type_call(node, parent)
        return node

    def attribute(self, node, parent, name):
        if isinstance(parent, MATCH_VALUE):
            self.pattern(node, name)
            return node  # only plain attributes are allowed there
        if not isinstance(node.ctx, _ast.Load):
            if node not in self.checked_stores:
                node.value = passed_by(OWN, node.value, local=self.local)
            if isinstance(parent, _ast.AugAssign) and name in self.watched:  # it is also read
                node.value = passed_by(PRIVATE, node.value, text(name, node))
        elif name in FORMATTERS:
            if not isinstance(node.value, _ast.Constant):  # the rules have checked constants
                node.value = called(FORMATTING, node, node.value, text(name, node))
        elif name == "__class__" and self.reflects:
            return called(TYPEOF, node, node.value)
        elif name in BY_STRING or name in COPIED or name == "__init__":
            return called(SPECIAL, node, node.value, text(name, node))
        elif name in self.watched:
            node.value = passed_by(PRIVATE, node.value, text(name, node))
        return node

    def pattern(self, node, name):
        if name in self.watched or name in FORMATTERS or name in SHARED_VIEWS:
            self.findings.append(Finding("match-attribute", node, "the attribute '%s' cannot be matched" % name))

    def type_call(self, node, parent):
        """type(x) is a metaclass only if x is a class."""
        callee = node.func
        if not (isinstance(callee, _ast.Name) and callee.id == "type" and len(node.args) == 1 and not node.keywords):
            return node
        if isinstance(node.args[0], _ast.Starred):
            return node
        if isinstance(parent, _ast.Attribute) and parent.attr in ("__name__", "__qualname__"):
            callee.id = TYPE  # no other code can reach it
            return node
        callee.id = TYPEOF
        if not isinstance(node.args[0], _ast.Name):
            return node
        is_class = called(ISINSTANCE, node, node.args[0], named(TYPE, node))
        return placed(_ast.IfExp(is_class, node, called(TYPE, node, node.args[0])), node)
