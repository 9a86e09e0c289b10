#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the pages that page_fixture writes in headless Chromium, from disk, and uses them as a reader would.

    page_browser_test.py PAGE_FIXTURE [unittest arguments]

Without Chromium or Selenium it says SKIPPED and exits with 77; with CI=true that is a failure.
"""

import base64
import functools
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from png_pixels import Pixels

SKIPPED = 77
PATIENCE = 150  # seconds for a page of 25 MB to become ready, on a machine whose processors many share
FIXTURE = None


def missing():
    """What this test needs and does not find, or None."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return program
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium"
    return None


@functools.lru_cache(maxsize=None)
def weights_of(panel, i, columns):
    """Row i of a panel, by the formula of page_fixture.cpp."""
    raw = [math.exp(3 * math.cos(0.7 * (i + 1) * (panel + 1) + 1.3 * j)) for j in range(columns)]
    total = sum(raw)
    return [x / total for x in raw]


def weight(panel, i, j, columns):
    return weights_of(panel, i, columns)[j]


def highest_weight(panels, rows, columns):
    return max(max(weights_of(p, i, columns)) for p in range(panels) for i in range(rows))


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        # Chromium may still be writing to its profile for a moment after it quits.
        cls.folder = tempfile.TemporaryDirectory(prefix="attn_page_", ignore_cleanup_errors=True)
        subprocess.run([FIXTURE, cls.folder.name], check=True)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         f"--user-data-dir={cls.folder.name}/profile"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        cls.browser.set_script_timeout(PATIENCE)  # 30 seconds, unless said

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])

    def open(self, name, dark=False, width=1400, height=900):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.browser.get(pathlib.Path(self.folder.name, f"{name}.html").as_uri())
        self.wait(lambda: self.js("return !!document.querySelector('.panel[aria-current]') && "
                                  "!document.getElementById('overview').hasAttribute('aria-busy')"))
        self.pointer("mouseMoved", 1, 1)

    def wait(self, condition):
        deadline = time.time() + PATIENCE
        while not condition():
            self.assertLess(time.time(), deadline, "the page did not become ready")
            time.sleep(0.05)

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.js("return Array.from(document.querySelectorAll(arguments[0]), n => n.textContent)", selector)

    def pointer(self, kind, x, y):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **button})

    def centre(self, selector):
        return self.js("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
                       "return [r.left + r.width / 2, r.top + r.height / 2]", selector)

    def hover(self, selector):
        self.pointer("mouseMoved", *self.centre(selector))

    def click(self, selector):
        self.pointer("mousePressed", *self.centre(selector))
        self.pointer("mouseReleased", *self.centre(selector))

    def cell(self, i, j):
        """Centre and size of cell (i, j) of the enlarged map."""
        left, top, width, height = self.js(
            "const r = document.getElementById('map-cells').getBoundingClientRect();"
            "return [r.left, r.top, r.width / document.getElementById('map-columns').children.length,"
            "        r.height / document.getElementById('map-rows').children.length]")
        return left + (j + 0.5) * width, top + (i + 0.5) * height, width

    def press(self, key):
        self.browser.switch_to.active_element.send_keys(key)

    def title(self):
        return self.text("#detail-title")

    def numbers(self, selector):
        return [float(text) for text in self.texts(f"{selector} .number")]

    # ---- What a reader does.

    def test_opens_with_every_panel_and_one_scale(self):
        self.open("saw")
        self.assertEqual(self.browser.title, "I saw a saw")
        self.assertEqual(len(self.all(".panel")), 12)
        self.assertEqual(self.title(), "layer 0 · head 0")
        ticks = [float(tick) for tick in self.texts("#bar-ticks span")]
        self.assertEqual(ticks[0], 0)
        self.assertAlmostEqual(ticks[-1], highest_weight(12, 6, 6), places=3)
        self.assertEqual(self.texts("#map-rows .label"), ["[CLS]", "i", "saw", "a", "saw", "[SEP]"])
        self.assertTrue(all(panel.get_attribute("aria-label") for panel in self.all(".panel")))

    def test_click_enlarges_and_arrows_walk(self):
        self.open("saw")
        self.click(".panel[title='layer 1 · head 2']")
        self.assertEqual(self.title(), "layer 1 · head 2")
        self.assertEqual(len(self.all(".panel[aria-current=true]")), 1)
        for key, expected in (("\ue014", "layer 1 · head 3"), ("\ue014", "layer 1 · head 3"), ("\ue015", "layer 2 · head 3"),
                              ("\ue012", "layer 2 · head 2"), ("\ue013", "layer 1 · head 2")):
            self.press(key)
            self.assertEqual(self.title(), expected)
        focused = self.js("return document.activeElement.title")
        self.assertEqual(focused, "layer 1 · head 2")

    def test_enter_enlarges(self):
        self.open("saw")
        self.js("document.querySelector(\".panel[title='layer 2 · head 1']\").focus()")
        self.press("\ue007")
        self.assertEqual(self.title(), "layer 2 · head 1")

    def test_value_under_the_pointer(self):
        self.open("cross")
        self.click(".panel[title='layer 0 · head 1']")
        for i, j, row, column in ((0, 3, "the", "."), (2, 1, "sat", "Katze"), (1, 2, "cat", "saß")):
            x, y, _ = self.cell(i, j)
            self.pointer("mouseMoved", x, y)
            self.assertEqual(self.text("#tip-row"), row)
            self.assertEqual(self.text("#tip-column"), column)
            shown = self.text("#tip-value")
            self.assertRegex(shown, r"^0\.\d{4}$")
            self.assertAlmostEqual(float(shown), weight(1, i, j, 4), delta=5.8e-5)  # rounded here and in the page
            self.assertEqual(self.texts("#readout bdi"), [row, column])
            self.assertEqual(self.text("#readout strong"), shown)
        self.pointer("mouseMoved", 1, 1)
        self.assertFalse(self.all("#tip")[0].is_displayed())

    def test_token_shows_where_it_looks_and_who_looks(self):
        self.open("saw")
        self.hover("#columns-strip .chip:nth-child(3)")
        self.assertEqual(self.text("#columns-title"), "where “saw” looks")
        self.assertEqual(self.text("#rows-title"), "who looks at “saw”")
        for got, j in zip(self.numbers("#columns-strip"), range(6), strict=True):
            self.assertAlmostEqual(got, weight(0, 2, j, 6), delta=5.1e-4)
        for got, i in zip(self.numbers("#rows-strip"), range(6), strict=True):
            self.assertAlmostEqual(got, weight(0, i, 2, 6), delta=5.1e-4)

    def test_cross_tokens_have_one_side_each(self):
        self.open("cross")
        self.hover("#rows-strip .chip:nth-child(2)")
        self.assertEqual(self.text("#columns-title"), "where “cat” looks")
        self.assertEqual(self.text("#rows-title"), "queries")
        self.assertEqual(len(self.numbers("#columns-strip")), 4)
        self.hover("#map-columns .label:nth-child(4)")
        self.assertEqual(self.text("#rows-title"), "who looks at “.”")
        self.assertEqual(self.texts("#columns-strip .number"), [""] * 4)

    def test_click_keeps_a_token_until_escape(self):
        self.open("saw")
        self.click("#rows-strip .chip:nth-child(2)")
        self.pointer("mouseMoved", 1, 1)
        self.assertEqual(self.text("#columns-title"), "where “i” looks")
        self.press("\ue014")
        self.assertEqual(self.text("#columns-title"), "where “saw” looks")
        self.press("\ue00c")
        self.assertEqual(self.text("#columns-title"), "keys")

    def test_lines_toggle(self):
        self.open("cross")
        self.click("#show-lines")
        self.assertFalse(self.all("#map")[0].is_displayed())
        self.assertTrue(self.all("#lines-canvas")[0].is_displayed())
        drawn = ("const c = document.getElementById('lines-canvas'), copy = document.createElement('canvas');"
                 "copy.width = c.width; copy.height = c.height;"
                 "const context = copy.getContext('2d', {willReadFrequently: true}); context.drawImage(c, 0, 0);"
                 "return context.getImageData(0, 0, c.width, c.height).data.filter(x => x).length")
        everything = self.js(drawn)
        self.hover("#lines-left .label:nth-child(3)")
        self.assertLess(0, self.js(drawn))
        self.assertLess(self.js(drawn), everything)
        for got, j in zip(self.numbers("#lines-right"), range(4), strict=True):
            self.assertAlmostEqual(got, weight(0, 2, j, 4), delta=5.1e-4)
        self.click("#show-map")
        self.assertTrue(self.all("#map")[0].is_displayed())

    def test_nasty_labels_stay_text(self):
        self.open("nasty")
        self.assertEqual(self.browser.title, "</title><script>window.hacked=1</script>&")
        self.assertIsNone(self.js("return window.hacked"))
        self.assertEqual(self.texts("#rows-strip .chip .text"), [
            "</script><script>window.hacked=1</script>", "&amp;", "\"quoted'", "a⟨U+2028⟩b", "nul⟨U+0000⟩!", "∅", "小明",
            "👩\u200d🚀", "שלום", "<!--<script>", "\\u003c", "bad\ufffd", "␣space␣", "⟨U+202E⟩back", "{{data}}"])
        self.hover("#rows-strip .chip:nth-child(9)")
        self.assertEqual(self.text("#columns-title"), "where “שלום” looks")
        direction = self.js("return getComputedStyle(document.querySelector('#rows-strip .chip:nth-child(9) .text')).direction")
        self.assertEqual(direction, "rtl")

    def test_what_is_no_number_is_named(self):
        self.open("odd")
        self.assertEqual(self.title(), "group 0 · panel 0")
        for i, j, expected in ((0, 0, "−∞"), (0, 2, "2.5000"), (1, 0, "NaN"), (1, 1, "−1.5000"), (1, 2, "∞")):
            x, y, _ = self.cell(i, j)
            self.pointer("mouseMoved", x, y)
            self.assertEqual(self.text("#tip-value"), expected)
        self.hover("#rows-strip .chip:nth-child(2)")
        self.assertEqual(self.text("#columns-title"), "the row of “b”")

    def test_chinese(self):
        self.open("chinese")
        self.assertEqual(self.browser.title, "小明 在 北京 大学 学习 人工智能")
        self.assertEqual(len(self.all(".panel")), 72)
        self.assertEqual(self.texts("#map-columns .label")[6], "人工智能")
        x, y, _ = self.cell(3, 6)
        self.pointer("mouseMoved", x, y)
        self.assertEqual([self.text("#tip-row"), self.text("#tip-column")], ["北京", "人工智能"])

    def test_colours_of_cells(self):
        for dark, name, root in ((False, "blues", False), (True, "blues", False), (False, "hot", True),
                                 (True, "viridis", False)):
            with self.subTest(dark=dark, colours=name, root=root):
                self.open("long", dark=dark)
                self.choose("colormap", name)
                self.choose("scale", "root" if root else "linear")
                self.js("document.getElementById('zoom').value = 20;"
                        "document.getElementById('zoom').dispatchEvent(new Event('input'))")
                self.compare_colours(name, reverse=dark and name == "blues", root=root)

    def choose(self, control, value):
        self.js("const c = document.getElementById(arguments[0]); c.value = arguments[1];"
                "c.dispatchEvent(new Event('change'))", control, value)

    def compare_colours(self, name, reverse, root):
        left, top = (round(c) for c in self.js(
            "const r = document.getElementById('map-cells').getBoundingClientRect(); return [r.left, r.top]"))
        shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "clip": {"x": left, "y": top, "width": 520, "height": 430, "scale": 1}})
        pixels = Pixels(base64.b64decode(shot["data"]))
        table = self.js("return JSON.parse(document.getElementById('page-data').textContent).colormaps[arguments[0]]", name)
        highest = highest_weight(72, 64, 64)
        for i, j in ((0, 0), (3, 6), (7, 15), (12, 2), (20, 24)):
            t = weight(0, i, j, 64) / highest
            step = round(255 * (math.sqrt(t) if root else t))
            at = 6 * (255 - step if reverse else step)
            expected = [int(table[at + 2 * c:at + 2 * c + 2], 16) for c in range(3)]
            x, y, size = self.cell(i, j)
            found = pixels.mean(x - left, y - top, size / 2)
            for a, b in zip(found, expected, strict=True):
                self.assertAlmostEqual(a, b, delta=4, msg=f"cell ({i}, {j}): found {found}, expected {expected}")

    def test_keys_walk_along_a_strip(self):
        self.open("saw")
        self.js("document.getElementById('columns-strip').focus()")
        for _ in range(3):
            self.press("\ue014")
        self.assertEqual(self.text("#columns-title"), "where “saw” looks")
        self.assertEqual(self.js("return document.activeElement.getAttribute('aria-activedescendant')"), "columns-chip-2")
        self.assertEqual(self.title(), "layer 0 · head 0")

    def test_large_page_opens(self):
        self.assertGreater(pathlib.Path(self.folder.name, "large.html").stat().st_size, 25_000_000)
        self.open("large")
        self.assertEqual(len(self.all(".panel")), 144)
        self.click(".panel[title='layer 11 · head 11']")
        x, y, _ = self.cell(60, 40)
        self.pointer("mouseMoved", x, y)
        self.assertEqual([self.text("#tip-row"), self.text("#tip-column")], ["tok60", "tok40"])
        self.assertAlmostEqual(float(self.text("#tip-value")), weight(143, 60, 40, 256), delta=5.8e-5)

    def test_small_screen_has_no_sideways_scroll(self):
        self.open("long", width=390, height=800)
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 390)


def main():
    global FIXTURE
    absent = missing()
    if absent:
        print(f"SKIPPED: {absent} is not installed")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    FIXTURE = sys.argv.pop(1)
    return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
