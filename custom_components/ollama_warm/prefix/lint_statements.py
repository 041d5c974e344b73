"""What a template prints, and which of it moves: follows its statements in order."""

from collections import ChainMap
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, override

from jinja2 import nodes

from .lint_expressions import Expressions
from .lint_values import COLLECTIONS, FIXED, Arguments, Move, Moves, Shape, Value, join, union

_NOTHING: Moves = frozenset()
# Macros are read again for other arguments, but not without end.
_MOST_READINGS = 100
# Statements that print nothing.
_SILENT = (
    nodes.Assign,
    nodes.AssignBlock,
    nodes.ExprStmt,
    nodes.FromImport,
    nodes.Import,
    nodes.Macro,
)


class Statements(Expressions):
    """Walks a template; `moving` is all that moves in the text it prints."""

    def __init__(self) -> None:
        super().__init__()
        self.moving: set[Move] = set()
        self._control = _NOTHING
        """What decides whether, or how often, the statement at hand runs."""
        self._in_loop = False
        self._macros: dict[str, nodes.Macro] = {}
        self._readings: dict[object, Moves] = {}
        self._steps: dict[type[nodes.Node], Callable[[Any], None]] = {
            nodes.Output: self._output,
            nodes.If: self._if,
            nodes.For: self._for,
            nodes.Assign: lambda node: self._bind(node.target, node.node),
            nodes.AssignBlock: self._set_block,
            nodes.With: self._with,
            nodes.Macro: lambda node: self._macros.update({node.name: node}),
            nodes.CallBlock: self._call_block,
            nodes.FilterBlock: self._filter_block,
            nodes.Block: lambda node: self._walk_inside(node.body),
            nodes.Scope: lambda node: self._walk_inside(node.body),
            nodes.ScopedEvalContextModifier: lambda node: self._walk_inside(node.body),
            nodes.Import: lambda node: self.scope.update({node.target: FIXED}),
            nodes.FromImport: self._from_import,
        }

    def walk(self, body: Sequence[nodes.Node]) -> None:
        """Follow the statements of a body."""
        for node in body:
            if step := self._steps.get(type(node)):
                step(node)

    def _walk_inside(self, body: Sequence[nodes.Node], **names: Value) -> None:
        """Follow a body whose variables are not seen outside, with these in it."""
        outer = self.scope
        self.scope = outer.new_child(names)
        self.walk(body)
        self.scope = outer

    def _output(self, node: nodes.Output) -> None:
        for child in node.nodes:
            self.moving |= self.evaluate(child).settled

    def _if(self, node: nodes.If) -> None:
        """Follow all branches: the tests move the text, or the variables that they set."""
        tests = union(self.evaluate(one.test) for one in (node, *node.elif_))
        bodies = _bodies(node)
        if _same_text(bodies) is None:
            self.moving |= tests
        outer, control = self.scope, self._control
        self._control |= tests
        written: list[dict[str, Value]] = []
        for body in bodies:
            names: dict[str, Value] = {}
            self.scope = outer.new_child(names)
            self.walk(body)
            written.append(names)
        self.scope, self._control = outer, control
        for name in {name: None for names in written for name in names}:
            before = outer.get(name, FIXED)
            values = (names.get(name, before) for names in written)
            outer[name] = reduce(join, values).widened(tests).compact

    def _for(self, node: nodes.For) -> None:
        """Follow a loop: what it runs over moves the text, as does each thing in it."""
        value = self.evaluate(node.iter)
        moves = value.moves if value.shape in COLLECTIONS else value.settled
        outer, control, in_loop = self.scope, self._control, self._in_loop
        names = _loop_names(node.target, value)
        self.scope = outer.new_child(names)
        moves |= self.evaluate(node.test).settled
        self.scope = outer
        if _text_of(node) is None:
            self.moving |= moves
        self._control |= moves
        self._in_loop = True
        # What a namespace was given at the end is seen at the beginning the next time.
        for _ in range(1 if in_loop else 2):
            self._walk_inside(node.body, **names)
        self._walk_inside(node.else_)
        self._control, self._in_loop = control, in_loop

    def _bind(self, target: nodes.Node, node: nodes.Node) -> None:
        """Set a variable, or several, to an expression."""
        if isinstance(target, nodes.Tuple) and isinstance(node, nodes.Tuple):
            for one, value in zip(target.items, node.items, strict=False):
                self._bind(one, value)
            return
        self._set(target, self.evaluate(node))
        if isinstance(target, nodes.Name) and isinstance(node, nodes.Call):
            for given in _namespace(node):
                self._set_attribute(target.name, str(given.key), self.evaluate(given.value))

    def _set(self, target: nodes.Node, value: Value) -> None:
        if isinstance(target, nodes.Name):
            self.scope[target.name] = value
        elif isinstance(target, nodes.NSRef):
            self._set_attribute(target.name, target.attr, value)
        else:
            for one in target.iter_child_nodes():
                self._set(one, Value(moves=value.settled))

    def _set_attribute(self, name: str, attr: str, value: Value) -> None:
        """Add to what a namespace may hold: it outlives loops and branches."""
        before = self.spaces.get((name, attr), value)
        self.spaces[name, attr] = join(before, value).widened(self._control).compact

    def _captured(self, body: Sequence[nodes.Node], **names: Value) -> Moves:
        """Return what moves in the text of a body that is not printed where it stands."""
        outer, self.moving = self.moving, set()
        self._walk_inside(body, **names)
        moves = frozenset(self.moving)
        self.moving = outer
        return moves

    def _set_block(self, node: nodes.AssignBlock) -> None:
        moves = self._captured(node.body) | self.evaluate(node.filter).settled
        self._set(node.target, Value(moves=moves))

    def _with(self, node: nodes.With) -> None:
        values = [self.evaluate(value) for value in node.values]
        names: dict[str, Value] = {}
        outer = self.scope
        self.scope = outer.new_child(names)
        for target, value in zip(node.targets, values, strict=True):
            self._set(target, value)
        self.walk(node.body)
        self.scope = outer

    def _call_block(self, node: nodes.CallBlock) -> None:
        self.moving |= self.evaluate(node.call).settled
        self._walk_inside(node.body, **{one.name: FIXED for one in node.args})

    def _filter_block(self, node: nodes.FilterBlock) -> None:
        self.moving |= self.evaluate(node.filter).settled
        self._walk_inside(node.body)

    def _from_import(self, node: nodes.FromImport) -> None:
        for name in node.names:
            self.scope[name if isinstance(name, str) else name[1]] = FIXED

    @override
    def macro(self, name: str, args: Arguments) -> Moves | None:
        macro = self._macros.get(name)
        if macro is None:
            return None
        outer = self.scope
        names: dict[str, Value] = {}
        self.scope = ChainMap(names, outer.maps[-1])
        without = len(macro.args) - len(macro.defaults)
        for index, arg in enumerate(macro.args):
            default = macro.defaults[index - without] if index >= without else None
            names[arg.name] = args.find(index, arg.name) or self.evaluate(default)
        key = (name, *(_signature(value) for value in names.values()))
        if key not in self._readings and len(self._readings) < _MOST_READINGS:
            self._readings[key] = _NOTHING
            self._readings[key] = self._captured(macro.body)
        self.scope = outer
        return self._readings.get(key, args.everything)


def _signature(value: Value) -> object:
    """Return what two arguments have in common that are the same to a macro."""
    movers = frozenset(mover for mover, _ in value.moves)
    return value.shape, value.clock, movers, value.text


def _loop_names(target: nodes.Node, value: Value) -> dict[str, Value]:
    """Return the variables of a loop: of a list of states each is one of them.

    The things of any other list move no more than the list, which is reported already. In
    `for domain, group in states | groupby('domain')`, the last is a list again.
    """
    if isinstance(target, nodes.Name):
        return {target.name: Value(Shape.STATE) if value.shape in COLLECTIONS else FIXED}
    found = [one.name for one in target.find_all(nodes.Name)]
    names = dict.fromkeys(found, FIXED)
    if value.shape in COLLECTIONS and found:
        names[found[-1]] = Value(Shape.STATES)
    return names


def _namespace(node: nodes.Call) -> Sequence[nodes.Keyword]:
    """Return what a new namespace is given, nothing if the call makes none."""
    is_one = isinstance(node.node, nodes.Name) and node.node.name == "namespace"
    return node.kwargs if is_one else ()


def _bodies(node: nodes.If) -> list[list[nodes.Node]]:
    """Return the branches of a condition, the last of them for when no test holds."""
    return [node.body, *(one.body for one in node.elif_), node.else_]


def _same_text(bodies: Sequence[Sequence[nodes.Node]]) -> str | None:
    """Return the text that all of these print, None if they differ or it is not fixed."""
    texts = {_text(body) for body in bodies}
    return texts.pop() if len(texts) == 1 else None


def _text(body: Sequence[nodes.Node]) -> str | None:
    """Return the text that a body prints, None if it is not fixed."""
    parts: list[str] = []
    for node in body:
        part = _text_of(node)
        if part is None:
            return None
        parts.append(part)
    return "".join(parts)


def _text_of(node: nodes.Node) -> str | None:
    """Return the text that a statement prints, None if it is not fixed."""
    match node:
        case nodes.Output() if all(isinstance(one, nodes.TemplateData) for one in node.nodes):
            return "".join(one.data for one in node.nodes if isinstance(one, nodes.TemplateData))
        case nodes.If():
            return _same_text(_bodies(node))
        case nodes.For():
            return "" if _same_text((node.body, node.else_)) == "" else None
        case nodes.With() | nodes.Block() | nodes.Scope() | nodes.ScopedEvalContextModifier():
            return _text(node.body)
    return "" if isinstance(node, _SILENT) else None
