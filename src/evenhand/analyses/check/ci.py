"""The verdict of a policy as continuous integration shows it: JUnit XML, and GitHub's workflow commands."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from evenhand.analyses.check.document import doubt_of, who
from evenhand.errors import harmless, printable

MOST = 10
"""GitHub shows so many errors, and so many warnings, of a step."""


def junit(document: dict[str, Any]) -> str:
    """One test case for each rule and comparison."""
    findings = document["findings"]
    cases = [_case(f, document["rules"][f["rule"]]) for f in findings]
    if not document["passed"] and not any(f["passes"] is False for f in findings):
        cases.append(_nothing(document))
    failures = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    tally = {"tests": len(cases), "failures": failures, "errors": 0, "skipped": skipped}
    counts = {key: str(value) for key, value in tally.items()}
    root = ElementTree.Element("testsuites", {"name": "evenhand check", **counts})
    name = document["policy"]["name"] or document["policy"]["file"] or "evenhand check"
    suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(name), **counts})
    suite.extend(cases)
    output = ElementTree.SubElement(suite, "system-out")
    output.text = _xml("\n".join([document["interpretation"], *document["notes"]]))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(f: dict[str, Any], rule: dict[str, Any]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": _xml(rule["rule"]), "name": _xml(who(f, 200)), "time": "0"})
    if f["passes"] is False:
        kind = {"type": f["status"], "message": _xml(f["interpretation"])}
        ElementTree.SubElement(case, "failure", kind).text = _xml(_details(f, rule))
    elif f["passes"] is None:
        ElementTree.SubElement(case, "skipped", {"message": _xml(f["interpretation"])})
    else:
        ElementTree.SubElement(case, "system-out").text = _xml(f["interpretation"])
    return case


def _nothing(document: dict[str, Any]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", {"classname": "evenhand check", "name": "something was judged", "time": "0"})
    ElementTree.SubElement(case, "failure", {"type": "skipped", "message": _xml(document["interpretation"])})
    return case


def _details(f: dict[str, Any], rule: dict[str, Any]) -> str:
    lines = [f"rule: {rule['rule']}", f"comparison: {who(f)}", f["interpretation"]]
    return "\n".join(lines + ([f"reason for the rule: {rule['reason']}"] if rule["reason"] else []))


def _xml(text: str) -> str:
    """XML 1.0 cannot hold most control characters, even escaped."""
    return harmless(text)


def workflow_commands(document: dict[str, Any]) -> str:
    """An error for all that fails, a warning for all that is doubtful or skipped, and a notice of success."""
    findings, rules = document["findings"], document["rules"]
    failing = [f for f in findings if f["passes"] is False]
    doubtful = [f for f in findings if f["passes"] is None or doubt_of(f)]
    lines = [
        _command("notice" if document["passed"] else "error", {"title": "evenhand check"}, document["interpretation"])
    ]
    for kind, found in (("error", failing), ("warning", doubtful)):
        room = MOST - (1 if kind == "error" else 0)
        for f in found[: room if len(found) <= room else room - 1]:
            lines.append(_annotation(kind, f, rules[f["rule"]], document["policy"]["file"]))
        if len(found) > room:
            text = f"{len(found) - room + 1:,} more: see the log, or --json"
            lines.append(_command(kind, {"title": "evenhand check"}, text))
    return "".join(f"{line}\n" for line in lines)


def _annotation(kind: str, f: dict[str, Any], rule: dict[str, Any], file: str | None) -> str:
    where = {"file": file, "line": str(rule["line"])} if file and rule["line"] else {}
    why = f" (reason for the rule: {rule['reason']})" if rule["reason"] else ""
    return _command(kind, {**where, "title": f"{f['status']}: {rule['rule']}"}, f"{who(f)}: {f['interpretation']}{why}")


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    said = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{kind} {said}::{_escaped(message)}"


def _escaped(text: str, also: str = "") -> str:
    """As GitHub reads it back: what could end a line, a property or the command."""
    for character in f"%\r\n{also}":
        text = text.replace(character, f"%{ord(character):02X}")
    return printable(text)
