"""A person with a browser, who reads a report from a file."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

DESKTOP, PHONE, SMALL_PHONE = 1280, 390, 320


class Reader:
    """A person with a browser."""

    def __init__(self, profile: Path, downloads: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(BROWSER)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.downloads = downloads
        behaviour = {"behavior": "allow", "downloadPath": str(downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)

    def open(self, file: Path, width: int) -> None:
        """Open ``file`` on a screen of this width and forget what was logged before."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(file.as_uri())
        # Of a page in a file, the driver's own wait is at times over while it is still being read.
        WebDriverWait(self.driver, 20).until(
            lambda driver: driver.execute_script("return document.readyState") == "complete"
        )

    def ask(self, script: str) -> Any:
        """What ``script`` returns in the page."""
        return self.driver.execute_script(script)

    def requests(self) -> list[str]:
        """Addresses that the page asked for since it was opened."""
        events = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def press(self, key: str) -> None:
        """Press ``key`` where the focus is."""
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def downloaded(self, name: str) -> str:
        """The text of a file that the browser was told to download."""
        file = self.downloads / name
        deadline = time.monotonic() + 20
        while not file.is_file() and time.monotonic() < deadline:
            time.sleep(0.1)
        return file.read_text(encoding="utf-8")

    def errors(self) -> list[Any]:
        """What the browser complained of since the page was opened."""
        return list(self.driver.get_log("browser"))

    def drawn(self) -> list[dict[str, Any]]:
        """The figures: how high each is drawn, of how many shapes, and what describes it."""
        return list(
            self.ask(
                """return [...document.querySelectorAll("figure")].map((figure) => ({
                    height: figure.querySelector("svg.main-svg").getBoundingClientRect().height,
                    shapes: figure.querySelectorAll(".plot svg path").length,
                    label: document.getElementById(figure.getAttribute("aria-labelledby"))
                        .textContent,
                    caption: figure.querySelector("figcaption p").textContent,
                }))"""
            )
        )

    def overflows(self, width: int) -> list[str]:
        """What is wider than a screen of ``width``, or a drawing that is wider than its place."""
        plots = self.ask(
            """return [...document.querySelectorAll(".plot")]
                .map((plot) => [plot.dataset.file, plot.clientWidth,
                    plot.querySelector("svg").clientWidth])"""
        )
        page = self.ask("return document.documentElement.scrollWidth")
        return [f"page {page}"] * (page > width) + [
            f"{name} {drawn}" for name, room, drawn in plots if not 0 < drawn <= room
        ]

    def reached(self, wanted: int, at_most: int = 200) -> list[str]:
        """The labels of ``wanted`` downloads in the order in which the tabulator reaches them."""
        focus = "const e = document.activeElement; return e.closest('.downloads') && e.ariaLabel"
        found: list[str] = []
        for _ in range(at_most):
            self.press(Keys.TAB)
            label = self.ask(focus)
            if label and label not in found:
                found.append(label)
            if len(found) == wanted:
                break
        return found
