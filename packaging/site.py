#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the documentation as pages for a browser, without a server: site.py OUT

README and docs/ become HTML, with links between them; reference/ is what Doxygen writes. Needs
Doxygen and the Python module markdown (Debian: doxygen, python3-markdown).
"""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 sans-serif; }
pre { overflow-x: auto; padding: .7rem; border: 1px solid #8886; border-radius: 4px; }
code { font-size: 90%; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
:root { color-scheme: light dark; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body>
<nav><a href="{up}index.html">cdi {version}</a> | <a href="{up}docs/README.html">Documentation</a> |
<a href="{up}reference/index.html">Reference</a></nav>
{body}
</body>
</html>
"""


def release():
    """The version of the project."""
    text = (ROOT / "include/cdi/version.hpp").read_text(encoding="utf-8")
    return ".".join(re.findall(r"define CDI_VERSION_\w+ (\d+)", text))


def pages():
    """The Markdown files of the site, with their place in it."""
    named = {ROOT / name: f"{name[:-3]}.html"
             for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
    documents = {path: f"docs/{path.stem}.html" for path in sorted((ROOT / "docs").glob("*.md"))}
    return {ROOT / "README.md": "index.html", **named, **documents}


def heading_id(text, _separator):
    """The fragment that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class Site:
    """The pages, and the files that they link to."""

    def __init__(self, out):
        self.out = out
        self.pages = pages()

    def link(self, page, target):
        """A link of a page as a link of the site; None if the site does not have the target."""
        place, mark, fragment = target.partition("#")
        if re.match(r"[a-z]+:", target) or not place:
            return target
        path = (page.parent / place).resolve()
        here = pathlib.PurePath(self.pages[page]).parent
        if path not in self.pages:
            if not path.is_file():
                return None
            copy = self.out / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        to = self.pages.get(path, path.relative_to(ROOT))
        return os.path.relpath(to, here) + mark + fragment

    def write(self, page):
        """Writes a page as HTML."""
        import markdown  # not needed for --help
        text = page.read_text(encoding="utf-8")
        title = re.search(r"^# (.*)$", text, re.M)[1]
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"],
                                 extension_configs={"toc": {"slugify": heading_id}})

        def replace(match):
            to = self.link(page, html.unescape(match[1]))
            return f'<a href="{html.escape(to)}">{match[2]}</a>' if to else match[2]

        body = re.sub(r'<a href="([^"]*)">(.*?)</a>', replace, body, flags=re.S)
        place = self.out / self.pages[page]
        place.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (len(pathlib.PurePath(self.pages[page]).parts) - 1)
        place.write_text(PAGE.format(title=html.escape(title), style=STYLE, up=up, body=body,
                                     version=release()), encoding="utf-8")

    def write_reference(self):
        """Runs Doxygen."""
        with tempfile.TemporaryDirectory() as made:
            text = (ROOT / "packaging/Doxyfile.in").read_text(encoding="utf-8")
            for name, value in {"SOURCE": ROOT, "OUTPUT": made, "VERSION": release()}.items():
                text = text.replace(f"@{name}@", str(value))
            # The test `docs` checks the warnings, which depend on Doxygen's version.
            text += "\nWARNINGS = NO\nWARN_AS_ERROR = NO\nHTML_TIMESTAMP = NO\n"
            subprocess.run(["doxygen", "-"], input=text, text=True, check=True)
            shutil.copytree(pathlib.Path(made, "html"), self.out / "reference")


def main(out):
    try:
        import markdown  # noqa: F401
    except ImportError:
        sys.exit("site.py: the Python module markdown is missing; on Debian, run: "
                 "sudo apt-get install python3-markdown")
    if not shutil.which("doxygen"):
        sys.exit("site.py: doxygen is missing; on Debian, run: sudo apt-get install doxygen")
    site = Site(pathlib.Path(out).resolve())
    for page in site.pages:
        site.write(page)
    site.write_reference()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
