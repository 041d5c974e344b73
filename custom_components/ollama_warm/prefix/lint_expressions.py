"""What the expressions of a template let through, without computing any of them."""

from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable

from jinja2 import nodes

from . import lint_calls as calls, lint_clock as clock
from .lint_clock import ClockPart
from .lint_values import (
    COLLECTIONS,
    FIXED,
    Arguments,
    Mover,
    Moves,
    Shape,
    Value,
    join,
    moved_by,
    union,
)

_ANYWAY = {
    "states": Value(Shape.ROOT, text=""),
    "user_name": moved_by(Mover.PERSON),
    "llm_context": Value(Shape.CONTEXT),
}
_ORDERS = frozenset({"lt", "lteq", "gt", "gteq"})
_LAST_PLACE = 99
# Whether there is a thing rests, as long as the prompt's own variables are asked for.
_EXISTENCE = frozenset({"defined", "undefined"})


class Expressions(ABC):
    """Follows values through expressions, in the scope of the variables set so far."""

    def __init__(self) -> None:
        self.scope: ChainMap[str, Value] = ChainMap()
        self.spaces: dict[tuple[str, str], Value] = {}
        """Attributes of namespaces."""
        self._rules: dict[type[nodes.Node], Callable[..., Value]] = {
            nodes.Name: self._name,
            nodes.Const: _constant,
            nodes.Getattr: self._attribute,
            nodes.Getitem: self._item,
            nodes.Call: self._call,
            nodes.Filter: self._filter,
            nodes.Test: self._test,
            nodes.Add: self._sum,
            nodes.Sub: self._sum,
            nodes.Compare: self._compare,
            nodes.CondExpr: self._choice,
        }

    def evaluate(self, node: nodes.Node | None) -> Value:
        """Return what is known of the value of an expression."""
        if node is None:
            return FIXED
        return self._rules.get(type(node), self._anything)(node).anchored(node)

    @abstractmethod
    def macro(self, name: str, args: Arguments) -> Moves | None:
        """Return what moves in the text of a macro, None if there is none of this name."""

    def _anything(self, node: nodes.Node) -> Value:
        """Return a value from which all that moves in its parts may come out."""
        return Value(moves=union(self.evaluate(child) for child in node.iter_child_nodes()))

    def _name(self, node: nodes.Name) -> Value:
        if node.name in self.scope:
            return self.scope[node.name].named(node)
        return _ANYWAY.get(node.name, FIXED)

    def _attribute(self, node: nodes.Getattr) -> Value:
        if isinstance(node.node, nodes.Name) and (node.node.name, node.attr) in self.spaces:
            return self.spaces[node.node.name, node.attr].named(node)
        value = self.evaluate(node.node)
        return calls.attribute(value, node.attr) or Value(moves=value.settled)

    def _item(self, node: nodes.Getitem) -> Value:
        value, index = self.evaluate(node.node), self.evaluate(node.arg)
        found = None
        if isinstance(node.arg, nodes.Slice):
            found = _sliced(value, node.arg)
        elif index.text is not None:
            found = calls.attribute(value, index.text)
        elif value.shape is Shape.STATES:
            found = Value(Shape.STATE, moves=value.moves)
        if found is None:
            return Value(moves=value.settled | index.settled)
        return found.widened(index.settled)

    def _call(self, node: nodes.Call) -> Value:
        args = self._arguments(node)
        if isinstance(node.node, nodes.Getattr):
            value = self.evaluate(node.node.node)
            found = calls.method(value, node.node.attr, args)
            # What has this name was read before it was called.
            read = calls.attribute(value, node.node.attr)
            value = read.anchored(node.node) if read else value
        else:
            value = self.evaluate(node.node)
            found = self._function(node.node, value, args)
        return found or Value(moves=value.settled | args.everything)

    def _function(self, node: nodes.Expr, value: Value, args: Arguments) -> Value | None:
        if not isinstance(node, nodes.Name):
            return None
        moves = self.macro(node.name, args)
        if moves is not None:
            return Value(moves=moves)
        if value.shape is Shape.ROOT:
            return calls.function("states", args)
        return None if node.name in self.scope else calls.function(node.name, args)

    def _filter(self, node: nodes.Filter) -> Value:
        args = self._arguments(node, self.evaluate(node.node))
        return calls.function(node.name, args) or Value(moves=args.everything)

    def _test(self, node: nodes.Test) -> Value:
        if node.name in _EXISTENCE:
            return FIXED
        args = self._arguments(node, self.evaluate(node.node))
        return calls.function(node.name, args) or Value(moves=args.everything)

    def _arguments(self, node: nodes.Call | nodes.Filter | nodes.Test, *first: Value) -> Arguments:
        """Return the arguments of a call; a list of them that is unpacked counts as one."""
        unpacked = [one for one in (node.dyn_args, node.dyn_kwargs) if one is not None]
        return Arguments(
            (*first, *(self.evaluate(one) for one in (*node.args, *unpacked))),
            {str(one.key): self.evaluate(one.value) for one in node.kwargs},
        )

    def _sum(self, node: nodes.BinExpr) -> Value:
        """Return a sum or difference: time shifted is time, and two times make a span."""
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        both = Value(clock=left.clock | right.clock, moves=left.moves | right.moves)
        match left.shape, right.shape:
            case (Shape.MOMENT, Shape.MOMENT):
                return Value(Shape.DELTA, both.clock, moves=both.moves)
            case (Shape.MOMENT, Shape.DELTA) | (Shape.DELTA, Shape.MOMENT):
                return Value(Shape.MOMENT, both.clock, moves=both.moves)
            case (Shape.MOMENT | Shape.STAMP as shape, Shape.OTHER):
                return Value(shape, left.clock, moves=left.moves | right.settled)
            case (Shape.OTHER, Shape.MOMENT | Shape.STAMP as shape):
                return Value(shape, right.clock, moves=right.moves | left.settled)
        return Value(moves=left.settled | right.settled)

    def _compare(self, node: nodes.Compare) -> Value:
        """Return a comparison. A clock held against a fixed time changes it twice a day."""
        sides = [self.evaluate(node.expr), *(self.evaluate(one.expr) for one in node.ops)]
        clocks = [side for side in sides if side.clock & clock.TIME]
        ordered = all(one.op in _ORDERS for one in node.ops)
        if not ordered or len(clocks) != 1 or not _tells_the_hour(clocks[0]):
            return Value(moves=union(sides))
        others = [side.moves if side.clock else side.settled for side in sides]
        return Value(moves=frozenset({(Mover.HOURS, clocks[0].at or node)}).union(*others))

    def _choice(self, node: nodes.CondExpr) -> Value:
        chosen = join(self.evaluate(node.expr1), self.evaluate(node.expr2))
        return chosen.widened(self.evaluate(node.test).settled)


def _constant(node: nodes.Const) -> Value:
    return Value(text=node.value) if isinstance(node.value, str) else FIXED


def _tells_the_hour(value: Value) -> bool:
    """Return whether this is a time of day, and not a minute alone or what may be a span."""
    may_be_span = value.shape is Shape.DELTA or isinstance(value.at, nodes.Sub)
    return ClockPart.HOUR in value.clock and not may_be_span


def _sliced(value: Value, node: nodes.Slice) -> Value | None:
    """Return what a slice of a list of states or of an ISO text lets through."""
    if value.shape in COLLECTIONS:
        return Value(Shape.STATES, moves=value.moves)
    start, stop = _bound(node.start, 0), _bound(node.stop, _LAST_PLACE)
    if value.shape is Shape.ISO and start is not None and stop is not None:
        return Value(clock=value.clock & clock.of_slice(start, stop), moves=value.moves)
    return None


def _bound(node: nodes.Expr | None, default: int) -> int | None:
    """Return a bound of a slice, None if it is not a number counted from the start."""
    if node is None:
        return default
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, int) else None
