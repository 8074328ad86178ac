# attack: return subclasses of plain types whose methods lie
# class: 14
# walls: environment pid seccomp
# expect: held outcome:invalid_output outcome:raised
# naked: no the harness is written in the same interpreter

class Text(str):
    def __str__(self):
        return "lie"
    def encode(self, *a):
        return b'"lie"'

class Map(dict):
    def items(self):
        return [("escaped", True), ("detail", "the methods of a subclass were believed")]
    __iter__ = lambda self: iter(["escaped"])

result = Map(escaped=False, detail=Text("the data itself was taken"))
