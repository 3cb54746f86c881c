"""HTML by small pieces, where every text that is not HTML already is escaped. Pure."""

from __future__ import annotations

import html
import json

VOID = frozenset({"link", "meta", "br"})


class Html(str):
    """Text that is HTML already; any other text is escaped when it is put into a page."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """``text`` as HTML: itself where it is HTML already."""
    return text if isinstance(text, Html) else Html(html.escape(text))


def join(*parts: str) -> Html:
    """The parts one after the other."""
    return Html("".join(escaped(part) for part in parts))


def tag(element: str, /, *children: str, **attributes: str | bool) -> Html:
    """An element. ``class_`` stands for class, ``aria_label`` for aria-label; False leaves it out."""
    words = [element]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(attribute)
        elif value is not False:
            words.append(f'{attribute}="{html.escape(value)}"')
    opening = Html(f"<{' '.join(words)}>")
    return opening if element in VOID else join(opening, *children, Html(f"</{element}>"))


def table(caption: str, header: list[str], rows: list[list[str]], numeric: set[int]) -> Html:
    """A table that scrolls sideways by itself where it is wider than the page.

    The first cell of a row is its header; columns in ``numeric`` are set to the right.
    """

    def style(column: int) -> str | bool:
        return "number" if column in numeric else False

    head = [tag("th", text, scope="col", class_=style(i)) for i, text in enumerate(header)]
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", text, class_=style(i)) for i, text in enumerate(row[1:], start=1)),
        )
        for row in rows
    ]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *head)),
            tag("tbody", *body),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def data_block(document: object) -> Html:
    """``document`` as JSON that no text inside can end early: it holds no angle bracket."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return tag("script", Html(text), type="application/json")
