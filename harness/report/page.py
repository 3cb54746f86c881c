"""The page: one file with all it needs inside, for one run or several."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from harness.report.article import Article, article_html
from harness.report.html import Html, table, tag
from harness.report.kinds import read_article
from harness.report.words import listed
from traces.errors import BadInputError
from traces.run_directory import give_to_caller


def write_report(directories: Sequence[Path], file: Path) -> None:
    """Write the page of ``directories`` to ``file``. BadInputError where either is no good."""
    write_page(build_report(directories), file)


def write_page(text: str, file: Path) -> None:
    """Write a page, which then belongs to the user who called. BadInputError where it cannot be."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"cannot be written: {error.strerror}", allowed="a writable file", file=file
        ) from None
    give_to_caller(file)


def build_report(directories: Sequence[Path]) -> str:
    """The page of one run directory or several, one after the other, as HTML."""
    if not directories:
        raise BadInputError("there is no run to report", allowed="at least one run directory")
    return page_of(
        {
            (identity := f"run{number}"): read_article(directory, identity)
            for number, directory in enumerate(directories, start=1)
        }
    )


def page_of(articles: dict[str, Article]) -> str:
    """The page of ``articles``, by their ids, as HTML."""
    scripts = [
        _package_text("plotly", "package_data", "plotly.min.js"),
        _package_text("harness.report", "report.js"),
    ]
    title = f"{listed([article.title for article in articles.values()])} · Roundelay report"
    body = [article_html(article, identity) for identity, article in articles.items()]
    page = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", title),
            tag("link", rel="icon", href="data:,"),
            tag("style", Html(_package_text("harness.report", "style.css"))),
        ),
        tag(
            "body",
            tag("a", "Skip to the results", href=f"#{next(iter(articles))}", class_="skip"),
            _masthead(articles),
            tag("main", _side_by_side(articles), *body),
            tag("noscript", "The figures need JavaScript; tables and CSV files do without."),
            *(tag("script", Html(script)) for script in scripts),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def _package_text(package: str, *parts: str) -> str:
    return resources.files(package).joinpath(*parts).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Lets the browser run exactly ``scripts`` and fetch nothing."""
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _masthead(articles: dict[str, Article]) -> Html:
    links = [tag("a", article.title, href=f"#{identity}") for identity, article in articles.items()]
    contents = tag("nav", *links, aria_label="Runs") if len(links) > 1 else Html()
    return tag("header", tag("p", "Roundelay", class_="brand"), contents, class_="masthead")


def _side_by_side(articles: dict[str, Article]) -> Html:
    """What came out of each run, one below the other; empty where there is one alone."""
    if len(articles) < 2:
        return Html()
    rows = [
        [tag("a", article.title, href=f"#{identity}"), article.outcome]
        for identity, article in articles.items()
    ]
    return table("Runs on this page", ["Run", "What came out"], rows, "-w")
