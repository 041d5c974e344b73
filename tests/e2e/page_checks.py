"""What is looked at in a report's page, in the browser and in pictures of it."""

from io import BytesIO
from pathlib import Path
import re

from PIL import Image, ImageChops, ImageFilter, ImageStat
from playwright.async_api import Page

# Elements that stick out of the page; a table in a box that scrolls by itself does not.
STICKING_OUT = """() => {
  const wide = document.documentElement.clientWidth;
  const found = [];
  if (document.documentElement.scrollWidth > wide) found.push("the page");
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    const scrolls = one.closest(".scroll") && !one.matches(".scroll");
    if (!scrolls && box.width && (box.right > wide + 1 || box.left < -1))
      found.push(`${one.tagName} ${one.className.baseVal ?? one.className}: ${box.right}`);
  }
  return found;
}"""

# Words of a figure that lie on each other, or outside of the figure's card.
COLLIDING = """() => {
  const found = [];
  for (const figure of document.querySelectorAll("svg")) {
    const card = figure.closest("figure").getBoundingClientRect();
    const words = [...figure.querySelectorAll("text")].map(
      one => [one.textContent, one.getBoundingClientRect()]);
    words.forEach(([text, box], place) => {
      if (box.left < card.left || box.right > card.right) found.push(`outside: ${text}`);
      for (const [other, beside] of words.slice(place + 1)) {
        const across = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
        const down = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
        // A line's box is a little higher than its letters.
        if (across > 0.5 && down > 4) found.push(`${text} / ${other}`);
      }
    });
  }
  return found;
}"""

# All words with their colour and the ground that they stand on.
WORDS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    const words = walker.currentNode.data.trim();
    if (!words || ["STYLE", "title", "desc"].includes(one.tagName)) continue;
    let ground = one;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)" && ground.parentElement)
      ground = ground.parentElement;
    const style = getComputedStyle(one);
    const colour = one.namespaceURI.endsWith("svg") ? style.fill : style.color;
    found.push([words, colour, getComputedStyle(ground).backgroundColor]);
  }
  return found;
}"""

# The colours of the shapes in all figures, as the browser has them.
SHAPES = """() => {
  const found = new Set();
  for (const one of document.querySelectorAll("svg path, svg rect, svg use")) {
    // What is only defined, to be used elsewhere, is not seen; a pattern's shapes are.
    if (one.closest("defs") && !one.closest("pattern")) continue;
    const style = getComputedStyle(one);
    for (const colour of [style.fill, style.stroke])
      if (colour !== "none" && !colour.startsWith("url")) found.add(colour);
  }
  return [...found];
}"""

# Where everything is, to be the same in light and dark.
PLACES = """() => [...document.querySelectorAll("body *")].map(one => {
  const box = one.getBoundingClientRect();
  return [one.tagName, box.x, box.y, box.width, box.height].join(" ");
})"""

# A figure alone in the corner of the screen, where no letters above it shift it by parts of a dot;
# its own are left out, because each machine has others.
_ALONE = """name => {
  const figure = document.querySelector(`svg[aria-labelledby^="${name}-title"]`);
  const [, , width, height] = figure.getAttribute("viewBox").split(" ");
  Object.assign(figure.style, {
    position: "fixed", left: 0, top: 0, margin: 0, maxWidth: "none", zIndex: 9,
    width: `${width}px`, height: `${height}px`, background: "var(--paper)",
  });
  for (const text of figure.querySelectorAll("text")) text.style.visibility = "hidden";
}"""
# So much may a picture's part differ, of 255: the edge of a shape, drawn by another browser.
_EDGE = 40


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as CSS writes them, by WCAG 2.2."""
    high, low = sorted((_brightness(one), _brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _brightness(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


async def picture(page: Page, name: str) -> Image.Image:
    """Return a picture of a figure without its words, by the beginning of its ids."""
    await page.evaluate(_ALONE, name)
    figure = page.locator(f'svg[aria-labelledby^="{name}-title"]')
    return Image.open(BytesIO(await figure.screenshot())).convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return the share of the picture that differs by more than edges do; 1 for another size."""
    if one.size != other.size:
        return 1
    soft = [each.filter(ImageFilter.BoxBlur(2)) for each in (one, other)]
    apart = ImageChops.difference(*soft).convert("L").point(lambda value: 255 * (value > _EDGE))
    return ImageStat.Stat(apart).mean[0] / 255


def keep(image: Image.Image, path: Path) -> None:
    """Store a reference, as small as it gets."""
    path.parent.mkdir(exist_ok=True)
    image.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
