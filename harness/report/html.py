"""HTML by small pieces, where every text that is not HTML already is escaped. Pure."""

from __future__ import annotations

import html
import json

VOID = frozenset({"link", "meta"})

KINDS = {"n": "number", "w": "words"}

WIDE = 5
"""Columns above which a table does not shrink to a phone but scrolls."""


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
    """An element. ``class_`` stands for class, ``aria_label`` for aria-label; False for none."""
    words = [element]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(attribute)
        elif value is not False:
            words.append(f'{attribute}="{html.escape(value)}"')
    opening = Html(f"<{' '.join(words)}>")
    return opening if element in VOID else join(opening, *children, Html(f"</{element}>"))


def table(
    caption: str,
    header: list[str],
    rows: list[list[str]],
    kinds: str,
    groups: list[tuple[str, int]] | None = None,
) -> Html:
    """A table that scrolls sideways by itself where it is wider than the page.

    The first cell of a row is its header. kinds: a letter a column: ``n`` for numbers, ``w`` for
    sentences, ``-`` for anything else. groups: titles over columns, each with how many it spans.
    The caption is for those who listen.
    """

    def style(column: int) -> str | bool:
        return KINDS.get(kinds[column], False)

    above = [
        tag("th", name, scope="colgroup", colspan=str(span))
        if name
        else tag("td", colspan=str(span))
        for name, span in groups or []
    ]
    head = [tag("th", text, scope="col", class_=style(i)) for i, text in enumerate(header)]
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", text, class_=style(i)) for i, text in enumerate(row[1:], start=1)),
        )
        for row in rows
    ]
    content = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *above, class_="groups") if above else "", tag("tr", *head)),
        tag("tbody", *body),
    )
    wide = "scroll wide" if len(header) > WIDE else "scroll"
    return tag("div", content, class_=wide, tabindex="0", role="region", aria_label=caption)


def data_block(document: object) -> Html:
    """``document`` as JSON that no text inside can end early: it holds no angle bracket."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return tag("script", Html(text), type="application/json")
