"""The table on the screen, the same as JSON, and as Markdown with the facts of the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from benchmarks.registry import Result

RESULTS: Final = Path(__file__).parent / "RESULTS.md"
_REMARKS: Final = "\n## Remarks\n"
_PACKAGES: Final = ("kato-tui", "orjson", "pydantic", "zstandard", "watchfiles", "textual")


def machine_facts() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": f"{os.cpu_count()} x {_processor()}",
        "system": f"{platform.system()} {platform.release()}",
        "load": f"{os.getloadavg()[0]:.1f} over the last minute",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "-"


def number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _goal(result: Result) -> str:
    return f"{result.goal.sign} {number(result.goal.bound)}" if result.goal is not None else ""


def _verdict(result: Result) -> str:
    return {None: "", True: "met", False: "NOT MET"}[result.met]


def row(result: Result) -> str:
    """One line of the table on the screen."""
    value = f"{number(result.value)} {result.unit}"
    return f"{result.what:<52} {value:>18}  {_goal(result):>10}  {_verdict(result):<8} {result.detail}"


def as_json(size: str, results: Iterable[Result]) -> dict[str, Any]:
    listed = [
        {
            "what": one.what,
            "value": one.value,
            "unit": one.unit,
            "goal": _goal(one) or None,
            "met": one.met,
            "detail": one.detail,
        }
        for one in results
    ]
    return {"size": size, "machine": machine_facts(), "results": listed}


def write(report: dict[str, Any]) -> None:
    """Write the page anew; what people remarked below the table stays."""
    _, found, remarks = (RESULTS.read_text() if RESULTS.exists() else "").partition(_REMARKS)
    RESULTS.write_text(as_markdown(report) + found + remarks)


def as_markdown(report: dict[str, Any]) -> str:
    facts = "\n".join(f"- {name}: {value}" for name, value in report["machine"].items())
    rows = "\n".join(
        f"| {one['what']} | {number(one['value'])} {one['unit']} | {one['goal'] or ''} | {_met(one['met'])} "
        f"| {one['detail'].replace('|', '/')} |"
        for one in report["results"]
    )
    return (
        "# Results\n\n"
        f"Written by `python -m benchmarks --size {report['size']} --write-results`. Ratios are taken within one run; "
        "CPU seconds are user and system time of the measured process alone.\n\n"
        f"{facts}\n- corpus: {report['size']}\n\n"
        f"| what | measured | goal | | how |\n|---|---|---|---|---|\n{rows}\n"
    )


def _met(met: bool | None) -> str:
    return {None: "", True: "met", False: "**not met**"}[met]
