"""What becomes of text that is not HTML."""

from __future__ import annotations

from harness.report import html


def test_html_escapes_all_that_is_not_html() -> None:
    element = html.tag("p", "<b>", html.tag("i", "x"), title='"quoted"', hidden=True, id=False)
    assert element == '<p title="&quot;quoted&quot;" hidden>&lt;b&gt;<i>x</i></p>'
    assert (
        "<"
        not in html.data_block("</script><script>")[len('<script type="application/json">') : -9]
    )
