"""The colours of the figures, which the page decides and not the plotting library."""

from enum import Enum


class Paint(Enum):
    """What a shape means. The page's style sheet has one colour for it in light and in dark.

    The plotting library knows colours only as numbers, so each paint has one that nothing else
    uses, and the finished figure gets the style sheet's variable in its place.
    """

    PAPER = "#010100"
    INK = "#010101"
    SOFT = "#010102"
    LINE = "#010103"
    CACHED = "#010104"
    READ = "#010105"
    UNKNOWN = "#010106"
    WARM = "#010107"
    PARTLY = "#010108"
    COLD = "#010109"
    TRACK = "#01010a"

    @property
    def variable(self) -> str:
        """The style sheet's variable."""
        return f"var(--{self.name.lower()})"
