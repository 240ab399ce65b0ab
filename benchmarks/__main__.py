"""`python -m benchmarks`: make the corpus, measure, print a table."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

import orjson

from benchmarks import results
from benchmarks.bench import Bench, main_folder
from benchmarks.registry import Measurement, Result, measurements

_PEERS: Final = "peers"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    known = measurements()
    if options.list:
        print("\n".join(f"{one.name:<16} {one.about}" for one in known.values()))
        return 0
    unknown = sorted(set(options.only or ()) - known.keys())
    if unknown:
        print(f"no measurement {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    peers = main_folder() / _PEERS
    if options.install_peers:
        _install(peers)
    chosen = [one for name, one in known.items() if not options.only or name in options.only]
    bench = Bench(options.size, peers=peers if peers.exists() else None, repeats=options.repeats)
    try:
        found = [result for one in chosen for result in _run(one, bench)]
    finally:
        bench.close()
    report = results.as_json(options.size, found)
    if options.json is not None:
        options.json.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    if options.write_results:
        results.write(report)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--size", choices=("XS", "S", "M", "L"), default="S", help="1 MB (to try), 50 MB, 1 GB or 5 GB of logs"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these measurements alone, see --list")
    parser.add_argument("--repeats", type=int, metavar="N", help="runs of which the best counts (3 at size S, else 1)")
    parser.add_argument("--list", action="store_true", help="name the measurements")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON as well")
    parser.add_argument("--write-results", action="store_true", help=f"write {results.RESULTS.name}")
    parser.add_argument(
        "--install-peers", action="store_true", help="get claude-code-log (PyPI) and ccusage (npm) to compare with"
    )
    return parser


def _run(one: Measurement, bench: Bench) -> list[Result]:
    found: list[Result] = []
    for result in one.measure(bench):
        print(results.row(result), flush=True)
        found.append(result)
    return found


def _install(folder: Path) -> None:
    """Other programs, beside the corpus: never among kato-tui's own dependencies."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "pip"), "install", "-q", "claude-code-log"], check=True)
    # Later versions are native programs, which npm does not always bring.
    subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), "ccusage@17"], check=True)


if __name__ == "__main__":
    sys.exit(main())
