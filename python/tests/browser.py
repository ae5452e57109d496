"""Drives a page of `htp view` in headless Chromium, for the tests."""

from __future__ import annotations

import os
import time
from pathlib import Path

from conftest import ROOT
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
#: Pictures that people can look at after the tests.
SCREENSHOTS = Path(os.environ.get("HTP_BUILD", ROOT / "build")) / "view-screenshots"

_FLAGS = """
--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1440,900 --hide-scrollbars
""".split()


class Browser:
    def __init__(self, downloads: Path, *, dark: bool = False) -> None:
        options = Options()
        options.binary_location = str(CHROMIUM)
        for flag in _FLAGS:
            options.add_argument(flag)
        if dark:
            options.add_argument("--blink-settings=preferredColorScheme=0")
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
        self.downloads = downloads

    def close(self) -> None:
        self.driver.quit()

    def open(self, page: Path | str, fragment: str = "") -> float:
        """Opens a page, and returns how many milliseconds it takes until the page can be used."""
        self.driver.get("about:blank")
        address = page.resolve().as_uri() if isinstance(page, Path) else page
        self.driver.get(f"{address}#{fragment}" if fragment else address)
        return float(
            self.wait(lambda: self.run("return document.documentElement.dataset.ready"), "ready")
        )

    def wait(self, found, what: str, seconds: float = 20):
        """Waits until `found` returns something true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if result := found():
                return result
            time.sleep(0.02)
        raise AssertionError(f"{what}: not within {seconds} s")

    def run(self, script: str, *arguments: object):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.wait(lambda: next(iter(self.all(selector)), None), selector)

    def click(self, selector: str) -> None:
        self.one(selector).click()

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def choose(self, selector: str, value: str) -> None:
        """An entry of a select."""
        self.run(
            "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change', {bubbles: true}))",
            selector,
            value,
        )

    def search(self, text: str) -> None:
        """Types into the search box, and selects the first result."""
        box = self.one("#search")
        box.clear()
        box.send_keys(text)
        self.wait(lambda: self.all("#found [role=option]"), f"search for {text}")
        box.send_keys(Keys.ENTER)

    def picture(self, name: str) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        time.sleep(0.15)
        assert self.driver.save_screenshot(str(path))
        return path

    def complaints(self) -> list[str]:
        """What the page wrote to the console: errors, and violations of its policy."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING") and "favicon" not in entry["message"]
        ]
