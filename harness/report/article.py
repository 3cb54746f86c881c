"""The article of one run, whatever its kind: its overview, then its sections. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from harness.report.html import Html, tag


@dataclass(frozen=True)
class Article:
    """What the page says of one run.

    facts: a few words each. outcome: sentences that say what came out. overview: what else stands
    before the sections. sections: titles and what stands below them.
    """

    title: str
    description: str
    facts: list[str]
    outcome: str
    overview: Html
    sections: list[tuple[str, Html]]


def article_html(article: Article, identity: str) -> Html:
    """The article element. identity: its id, with which those of its sections begin."""
    anchors = [
        (f"{identity}_{title.lower().replace(' ', '-')}", title) for title, _ in article.sections
    ]
    return tag(
        "article",
        tag(
            "div",
            tag("h1", article.title),
            tag("p", article.description, class_="lead") if article.description else "",
            tag("ul", *(tag("li", fact) for fact in article.facts), class_="facts"),
            tag("p", article.outcome, class_="outcome"),
            article.overview,
            class_="overview",
        ),
        tag(
            "nav",
            *(tag("a", title, href=f"#{anchor}") for anchor, title in anchors),
            class_="contents",
            aria_label=f"Sections of {article.title}",
        ),
        *(
            tag("section", tag("h2", title, id=anchor), content, aria_labelledby=anchor)
            for (anchor, title), (_, content) in zip(anchors, article.sections, strict=True)
        ),
        id=identity,
    )
