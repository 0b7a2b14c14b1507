#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The completion scripts of the tools in real shells: bash, zsh and fish.

usage: completion_test.py CDI CDI_PREPARE CDI_POD
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = {name: os.path.abspath(sys.argv.pop(1)) for name in ("cdi", "cdi-prepare", "cdi-pod")}
SPEC = """\
cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- {name: "0", containerEdits: {env: [A=1]}}
- {name: "1:2", containerEdits: {env: [A=2]}}
- {name: all, containerEdits: {env: [A=3]}}
"""
DEVICES = ["vendor.com/gpu=0", "vendor.com/gpu=1:2", "vendor.com/gpu=all"]


def printed(tool, *arguments):
    """What a tool prints."""
    return subprocess.run([TOOLS[tool], *arguments], text=True, capture_output=True,
                          check=True).stdout


def options_in(text):
    """The options in the left column of a help text, each with all of its names."""
    rows = re.findall(r"^ {2,6}(-[-\w, ]*?)(?: [A-Z][^ ]*)?(?: {2}|$)", text, re.M)
    return [row.split(", ") for row in rows]


def commands_in(text):
    """The commands that a help text lists."""
    lines = text[text.index("\nCommands:\n"):].split("\n\n")[0].splitlines()[2:]
    return [line.split()[0] for line in lines if re.match(r"  \w", line)]


class Terminal:
    """A shell on a terminal."""

    def __init__(self, shell, folder, env):
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(shell[0], shell, env)

    def type(self, text):
        os.write(self.end, text.encode())

    def read_until(self, mark):
        """The output up to a text; without one, to the end."""
        out = b""
        while mark is None or mark not in out:
            if not select.select([self.end], [], [], 60)[0]:
                raise TimeoutError(out.decode(errors="replace"))
            try:
                part = os.read(self.end, 65536)
            except OSError:  # the shell has ended
                part = b""
            if not part:
                break
            out += part
        return out.decode(errors="replace")

    def close(self):
        os.close(self.end)  # the shell gets SIGHUP
        os.waitpid(self.pid, 0)


class Shell:
    """Tests of what completes lines in a shell; the subclasses know how to ask it."""

    shell = None

    def setUp(self):
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cdi-completion-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "specs").mkdir()
        (self.folder / "specs/v.yaml").write_text(SPEC, encoding="ascii")
        (self.folder / "config.json").write_text("{}", encoding="ascii")
        (self.folder / "bin").mkdir()
        for name, path in TOOLS.items():
            (self.folder / "bin" / name).symlink_to(path)
            (self.folder / f"{name}.{self.shell}").write_text(
                printed(name, "completion", self.shell), encoding="ascii")
        self.env = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder),
                    "TERM": "dumb", "LC_ALL": "C"}

    def candidates(self, lines):
        """For each line, what may replace its last word, sorted."""
        raise NotImplementedError

    def check(self, expected):
        found = self.candidates(list(expected))
        for (line, wanted), got in zip(expected.items(), found, strict=True):
            with self.subTest(line):
                self.assertEqual(got, sorted(wanted))

    def test_commands_and_options_are_those_of_the_help(self):
        expected = {}
        for tool in TOOLS:
            text = printed(tool, "--help")
            commands = commands_in(text)
            expected[f"{tool} "] = commands
            expected[f"{tool} --"] = [n for row in options_in(text) for n in row if n[1] == "-"]
            for command in commands:
                texts = [printed(tool, command, "--help")]
                if "\nCommands:\n" in texts[0]:  # there are commands below it
                    texts += [printed(tool, command, below, "--help")
                              for below in commands_in(texts[0])]
                expected[f"{tool} {command} --"] = {n for own in texts for row in options_in(own)
                                                    for n in row if n[1] == "-"}
        self.assertGreater(len(expected), 35)
        self.check(expected)

    def test_values(self):
        self.check({
            "cdi -o ": ["text", "json", "yaml"],
            "cdi -o y": ["yaml"],
            "cdi inject --hooks re": ["refuse", "replace"],
            "cdi inject --hooks=re": ["refuse", "replace"],
            "cdi devices --output=j": ["json"],
            "cdi transform ": ["root"],
            "cdi completion ": ["bash", "fish", "zsh"],
            "cdi-prepare write --profile gra": ["graphics"],
            "cdi-pod size --formula ": ["rfc", "runtime-go", "runtime-rs"],
        })

    def test_files_and_directories(self):
        self.check({
            "cdi transform root /host / conf": ["config.json"],
            "cdi validate conf": ["config.json"],
            "cdi inject conf": ["config.json"],
            "cdi inject --policy conf": ["config.json"],
            "cdi inject --policy=conf": ["config.json"],
            "cdi -d sp": ["specs"],
            "cdi --spec-dir=sp": ["specs"],
            "cdi -d conf": [],
            "cdi-pod guest conf": ["config.json"],
            "cdi-prepare write --output-dir sp": ["specs"],
        })

    def test_device_names(self):
        self.check({
            "cdi -d specs resolve ": DEVICES,
            "cdi resolve -d specs ven": DEVICES,
            "cdi resolve --spec-dir=specs vendor.com/gpu=": DEVICES,
            "cdi -d specs resolve vendor.com/gpu=a": DEVICES[2:],
            "cdi -d specs why vendor.com/gpu=1:": DEVICES[1:2],
            "cdi -d specs inject config.json vendor.com/gpu=0 vendor.com/gpu=1": DEVICES[1:2],
            "cdi -o json -d specs args --for bwrap vendor.com/gpu=al": DEVICES[2:],
            "cdi -d nowhere resolve ": [],
        })

    def test_an_option_with_a_value_is_no_command(self):
        self.check({"cdi -o json --quarantine de": ["devices"], "cdi -d devices vend": ["vendors"],
                    "cdi devices --output json --quar": ["--quarantine"]})


class Bash(Shell, unittest.TestCase):
    shell = "bash"

    # Splits a line as readline does, and prints the candidates, each with the text that stays.
    ASK = r"""
    for tool in cdi cdi-prepare cdi-pod; do source ./$tool.bash; done
    while IFS= read -r line && read -r -a COMP_WORDS; do
      COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
      [[ $line == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      last=${COMP_WORDS[COMP_CWORD]} kept=
      [[ $last == [=:] ]] && last=
      whole=${line##* }
      kept=${whole%"$last"}
      function=_${COMP_WORDS[0]//-/_}
      $function 2>&1
      for one in "${COMPREPLY[@]}"; do printf '%s\n' "$kept$one"; done
      echo @end
    done
    """

    def candidates(self, lines):
        split = [re.sub("([=:]+)", r" \1 ", line) for line in lines]
        text = "".join(f"{line}\n{words}\n" for line, words in zip(lines, split))
        done = subprocess.run(["bash", "--norc", "-c", self.ASK], cwd=self.folder, env=self.env,
                              input=text, text=True, capture_output=True, check=True)
        self.assertEqual(done.stderr.replace("bash: line 26: compopt: not currently executing "
                                             "completion function\n", ""), "")
        found = []
        for line, part in zip(lines, done.stdout.split("@end\n")[:-1], strict=True):
            option = line.split(" ")[-1].partition("=")[0] + "="
            found.append(sorted(one.removeprefix(option) if one.startswith("--") and "=" in one
                                else one for one in part.splitlines()))
        return found

    def type_line(self, line):
        """What a real bash prints for a line with TAB at its end."""
        terminal = Terminal(["bash", "--norc", "-i"], self.folder, {**self.env, "PS1": "READY"})
        self.addCleanup(terminal.close)
        terminal.read_until(b"READY")
        terminal.type("source ./cdi.bash\n")
        terminal.read_until(b"READY")
        terminal.type(f"{line}\t\nexit\n")
        return terminal.read_until(None)

    def test_a_line_on_a_terminal(self):
        for line in ("cdi -d specs resolve vendor.com/gpu=al",
                     "cdi -d specs res\tvendor.com/gpu=al",
                     "cdi -d specs resolve 'vendor.com/gpu=al",
                     'cdi --spec-dir=sp\t resolve vendor.com/gpu=0 "vendor.com/gpu=al',
                     "./bin/cdi -d specs resolve ven\tal"):
            with self.subTest(line):
                self.assertRegex(self.type_line(line),
                                 r"env  A=3  vendor.com/gpu=all \(specs/+v.yaml:6\)")
        self.assertIn("env  A=2", self.type_line("cdi -d specs resolve vendor.com/gpu=1:"))


class Zsh(Shell, unittest.TestCase):
    shell = "zsh"

    # Writes each candidate to a file. Control-T ends the candidates of a line.
    SETUP = r"""
    PS1=READY
    fpath=($PWD $fpath)
    autoload -Uz compinit && compinit -u -D
    compadd() {
      if (( ! ${@[(I)-[OAD]]} )); then
        local -a found
        builtin compadd -O found "$@"
        print -rl -- $found >>./found
      fi
      builtin compadd "$@"
    }
    end-line() { print @end >>./found; BUFFER= }
    zle -N end-line
    bindkey '^T' end-line
    bindkey '^I' complete-word
    setopt no_always_last_prompt no_beep
    LISTMAX=10000
    """

    def candidates(self, lines):
        for tool in TOOLS:
            (self.folder / f"{tool}.zsh").rename(self.folder / f"_{tool}")
        (self.folder / "setup").write_text(self.SETUP, encoding="ascii")
        terminal = Terminal(["zsh", "-f", "-i"], self.folder, {**self.env, "PS1": "START"})
        self.addCleanup(terminal.close)
        terminal.read_until(b"START")
        terminal.type("source ./setup\n")
        terminal.read_until(b"READY")
        terminal.type("".join(f"{line}\t\x14" for line in lines) + "exit\n")
        terminal.read_until(None)
        parts = (self.folder / "found").read_text(encoding="ascii").split("@end\n")[:-1]
        return [sorted(set(part.split())) for part in parts]


class Fish(Shell, unittest.TestCase):
    shell = "fish"

    def candidates(self, lines):
        ask = "for tool in cdi cdi-prepare cdi-pod; source ./$tool.fish; end; while read -l line; " \
              "complete -C $line; echo @end; end"
        done = subprocess.run(["fish", "--no-config", "-c", ask], cwd=self.folder, env=self.env,
                              input="".join(line + "\n" for line in lines), text=True,
                              capture_output=True, check=True)
        self.assertEqual(done.stderr, "")
        found = []
        for line, part in zip(lines, done.stdout.split("@end\n")[:-1], strict=True):
            words = [one.split("\t")[0].rstrip("/") for one in part.splitlines()]
            option = line.split(" ")[-1].partition("=")[0] + "="
            found.append(sorted(word.removeprefix(option) for word in words)
                         if option.startswith("--") else sorted(words))
        return found


if __name__ == "__main__":
    unittest.main(verbosity=2)
