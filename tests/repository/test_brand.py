"""The pictures are as Home Assistant and HACS want them, and as the script draws them."""

import importlib.util
from types import ModuleType

from PIL import Image, ImageChops
import pytest

from .repository import COMPONENT, ROOT

BRAND = COMPONENT / "brand"
SIZES = {"icon.png": 256, "icon@2x.png": 512}
# How far another Pillow may round a colour.
ROUNDING = 3


def script() -> ModuleType:
    """Return the script that draws."""
    spec = importlib.util.spec_from_file_location("brand", ROOT / "script" / "lib" / "brand.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files() -> None:
    """There is the icon in both sizes, and nothing else."""
    assert {path.name for path in BRAND.iterdir()} == SIZES.keys()


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_shape(name: str, size: int) -> None:
    """An icon is a square PNG with a transparent background, and nothing around it is empty."""
    with Image.open(BRAND / name) as picture:
        assert picture.format == "PNG"
        assert picture.mode == "RGBA"
        assert picture.size == (size, size)
        alpha = picture.getchannel("A")
    assert alpha.getbbox() == (0, 0, size, size)
    assert alpha.getextrema() == (0, 255)
    assert [alpha.getpixel(corner) for corner in ((0, 0), (size - 1, 0), (size - 1, size - 1))] == [
        0,
        0,
        0,
    ]


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_drawn_by_the_script(name: str, size: int) -> None:
    """The pictures are what the script draws, so no one has changed one by hand."""
    drawn = script().icon(size)
    with Image.open(BRAND / name) as picture:
        difference = ImageChops.difference(picture.convert("RGBA"), drawn)
    for channel in difference.split():
        assert channel.point(lambda value: 255 * (value > ROUNDING)).getbbox() is None


def test_drawn_the_same_each_time() -> None:
    """The script draws the same picture each time."""
    drawn = script()
    assert drawn.ICONS == SIZES
    assert drawn.icon(256).tobytes() == drawn.icon(256).tobytes()
