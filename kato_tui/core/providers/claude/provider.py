"""Claude Code as a provider: its folders, its file names, its resume command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kato_tui.core.model.facts import Facts
from kato_tui.core.providers.base import Provider, ReadHead, Record, SourceFile
from kato_tui.core.providers.claude import files, processes
from kato_tui.core.providers.claude.translator import ClaudeTranslator


class Claude(Provider):
    name = "claude"
    #: Most versions only find a session from the directory it belongs to.
    resume_words = "claude --resume"

    def roots(self, environ: Mapping[str, str], home: Path) -> list[Path]:
        return files.roots(environ, home)

    def walk(self, root: Path) -> Iterator[Path]:
        return files.walk(root)

    def identify(self, path: Path, read_head: ReadHead) -> SourceFile | None:
        return files.identify(self.name, path, read_head)

    def sniff(self, head: bytes) -> bool:
        return files.sniff(head)

    def translator(
        self, source: SourceFile, state: Record | None = None, facts: Facts | None = None
    ) -> ClaudeTranslator:
        return ClaudeTranslator(source, state, facts)

    def order(self, sources: list[SourceFile]) -> list[SourceFile]:
        """The fullest of several files of one session.

        A session that moves to another project (worktrees, `/cd`) takes its file along, but sometimes a stub of a few
        book-keeping lines is left behind or goes ahead; and who copies a transcript goes on in the copy.
        """
        return sorted(sources, key=lambda source: _fullness(source.path))[-1:]

    def facts_beside(self, source: SourceFile, facts: Facts) -> None:
        """A sub-agent's task stands in a sidecar: a better name than the first line of its long prompt."""
        if source.kind == "subagent" and facts.title_source != "provider":
            facts.set_title(files.agent_description(source.path), "provider")

    def resume_folder(self, facts: Facts, source: str | None) -> str | None:
        """The project's: after a `cd` within the session that is a folder above the one where it stands."""
        if facts.cwd is None or source is None:
            return facts.cwd
        stands = Path(facts.cwd)
        project = Path(source).parent.name
        return next((str(one) for one in (stands, *stands.parents) if files.is_project_of(one, project)), facts.cwd)

    def ended(self, sources: Iterable[SourceFile]) -> set[str]:
        """Only main sessions stand in the registry, beside the projects: <config>/projects/<project>/<id>.jsonl."""
        by_project: dict[Path, set[str]] = {}
        for source in sources:
            if source.kind == "main" and len(source.path.parents) > 2:
                by_project.setdefault(source.path.parent, set()).add(source.provider_session_id)
        registries = {project.parent.parent / "sessions" for project in by_project}
        told = {registry: processes.ended(registry) for registry in registries}
        return {
            session
            for project, sessions in by_project.items()
            for session in sessions & told[project.parent.parent / "sessions"]
        }


def _fullness(path: Path) -> tuple[int, int, str]:
    try:
        stat = path.stat()
    except OSError:
        return -1, 0, str(path)
    return stat.st_size, stat.st_mtime_ns, str(path)
