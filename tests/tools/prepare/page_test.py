#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi-prepare doctor -o html` on fake nodes. usage: page_test.py CDI_PREPARE"""
import html
import html.parser
import json
import shutil

import node_trees
from tree_case import TreeTest, run_tests

HOSTILE = "<img src=x onerror=alert(1)>&\"'.yaml"
VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """The elements and the text of a page; fails if an element is not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.text, self.open = set(), {}, "", []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


class DoctorPage(TreeTest):
    tree = "nv2mig"

    def page(self, code=1):
        done = self.run_prepare("doctor", "-o", "html")
        self.assertEqual(done.returncode, code, done.stderr)
        self.html = done.stdout
        return Page(done.stdout)

    def record(self, code=1):
        done = self.run_prepare("doctor", "-o", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_it_has_what_json_has(self):
        self.install(podman="4.9.3", containerd="1.6.20")
        self.check_page(1)

    def test_pages_of_other_vendors(self):
        for tree in ("other", "vfio", "intel-xe", "mi300x-cpx"):
            with self.subTest(tree=tree):
                shutil.rmtree(self.root)
                node_trees.TREES[tree](str(self.root), False)
                self.install(podman="5.6.0")
                self.check_page(1)

    def check_page(self, code):
        text = self.page(code).text
        record = self.record(code)
        self.assertTrue(record["findings"] and record["engines"] and record["vendors"])
        for finding in record["findings"]:
            for member in ("about", "what", "advice"):
                self.assertIn(finding[member] or "", text)
        for engine in record["engines"]:
            self.assertIn(engine["name"], text)
            self.assertIn(engine["version"], text)
        for kind in record["vendors"]:
            for gpu in kind["gpus"]:
                for one in (gpu, *gpu["partitions"]):
                    self.assertIn(one["name"], text)
                    self.assertIn(one["leftOut"] or "can be used", text)
                    for node in one["nodes"]:
                        self.assertIn(node["path"], text)
            for file in kind["files"]:
                self.assertIn(file["path"], text)

    def test_a_divided_gpu_cannot_be_used_itself(self):
        gpus = [gpu for kind in self.record()["vendors"] for gpu in kind["gpus"]]
        usable = sum(len(gpu["partitions"]) or 1 for gpu in gpus)
        text = self.page().text
        self.assertEqual((text.count("can be used"), text.count("divided into")), (usable, 1))

    def test_it_needs_nothing_else_and_runs_nothing(self):
        page = self.page()
        self.assertLessEqual(page.elements, {
            "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th",
            "td", "code", "br", "details", "summary"})
        self.assertLessEqual(set(page.attributes), {"lang", "charset", "name", "content", "class"})
        for word in ("http", "url(", "@import", "script", "javascript"):
            self.assertNotIn(word, self.html.lower())
        self.assertIn("prefers-color-scheme: dark", self.html)
        self.assertTrue(self.html.startswith("<!DOCTYPE html>\n"))

    def test_hostile_text_is_escaped(self):
        folder = self.path("etc/cdi")
        folder.mkdir(parents=True)
        folder.joinpath(HOSTILE).write_text("{", encoding="utf-8")
        folder.joinpath("\x1b[31m\n\udcff.yaml").write_text("{", encoding="utf-8")
        page = self.page()
        self.assertNotIn("img", page.elements)
        self.assertIn("<img src=x onerror=alert(1)>&", page.text)
        self.assertIn(html.escape("<img src=x onerror=alert(1)>&"), self.html)
        self.assertNotIn("\x1b", self.html)

    def test_no_text_shows_as_another_one(self):
        self.install(podman="5.6.0")
        deceptive = "\x7f\x85\x9b\u202a\u202e\u2066\u2069"
        escapes = "\\u007F" + deceptive[1:]  # TOML has no such character
        self.path("etc/containers").mkdir(parents=True)
        self.path("etc/containers/containers.conf").write_text(
            f'[engine]\ncdi_spec_dirs = ["/a{escapes}b\u00e9"]\n', encoding="utf-8")
        text = self.page().text
        self.assertEqual([c for c in self.html if c in deceptive], [])
        shown = r"<code>/a\x7f\u0085\u009b\u202a\u202e\u2066\u2069b" + "\u00e9</code>"
        self.assertIn(shown, self.html)
        self.assertIn("\u00e9", text)

    def test_a_host_without_gpus_has_a_page(self):
        shutil.rmtree(self.root)
        self.root.mkdir()
        text = self.page(code=0).text
        self.assertIn("this host has none", text)
        self.assertIn("No container engine was found.", text)


if __name__ == "__main__":
    run_tests()
