"""What tools gave back, in all the shapes that Codex has written it. Pure functions: shape in, result fields out."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from kato_tui.core import text as texts
from kato_tui.core.providers.base import Record, only_text, opt, text_of
from kato_tui.core.providers.codex.wrappers import image_facts

_EXIT_CODE: Final = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})$", re.MULTILINE)
#: The exit code stands in the header that Codex puts before a command's own output.
_HEADER: Final = 400
RUNNING: Final = "Process running with session"

_FAILED: Final = ("declined", "failed")

#: Fields of a result that only repeat its text, or file contents and image bytes.
_REPEATED: Final = frozenset(
    {
        "type",
        "id",
        "call_id",
        "callId",
        "turn_id",
        "turnId",
        "stdout",
        "stderr",
        "aggregated_output",
        "formatted_output",
        "command",
        "parsed_cmd",
        "cwd",
        "changes",
        "invocation",
        "server",
        "tool",
        "namespace",
        "arguments",
        "result",
        "content_items",
        "prompt",
        "query",
        "action",
        "process_id",
    }
)


def of_output(output: Any) -> Record:
    """The text, json and isError of a `function_call_output` or `custom_tool_call_output`."""
    if isinstance(output, str):
        return _of_string(output)
    if isinstance(output, list):
        return of_text(of_blocks(output))
    if isinstance(output, dict) and isinstance(output.get("content"), (str, list)):
        # <= 0.4x: {"content": text, "success": bool}
        content, success = output["content"], output.get("success")
        body = of_blocks(content) if isinstance(content, list) else content
        return opt(text=body, isError=not success if isinstance(success, bool) else None)
    return opt(json=texts.without_bytes(output))


def _of_string(output: str) -> Record:
    if output.startswith('{"output":'):
        # Very old: a string that holds JSON with the text and the exit code.
        try:
            inner = orjson.loads(output)
        except orjson.JSONDecodeError:
            return of_text(output)
        metadata = inner.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else None
        code = metadata.get("exit_code") if metadata else None
        if isinstance(inner.get("output"), str):
            return opt(text=inner["output"], json=metadata, isError=code != 0 if isinstance(code, int) else None)
    return of_text(output)


def of_text(text: str) -> Record:
    """Printed text; the header that Codex puts in front may tell the exit code."""
    match = _EXIT_CODE.search(text[:_HEADER].partition("\nOutput:")[0])
    return opt(text=text, isError=match[1] != "0" if match else None)


def of_blocks(blocks: list[Any]) -> str:
    """Content blocks as text, each on its own line; images as what they were."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, dict):
            lines.append(_of_block(block))
        elif block is not None:
            lines.append(block if isinstance(block, str) else orjson.dumps(block, default=str).decode())
    return "".join(
        line if line.endswith("\n") or index == len(lines) - 1 else line + "\n" for index, line in enumerate(lines)
    )


def _of_block(block: Record) -> str:
    if isinstance(block.get("text"), str):
        return str(block["text"])
    kind = str(block.get("type", ""))
    if "image_url" in block or "imageUrl" in block:
        return texts.media_text(
            image_facts({"type": kind, "image_url": block.get("image_url") or block.get("imageUrl")})
        )
    if isinstance(block.get("data"), str):
        return texts.media_text(texts.media_facts(text_of(block.get("mimeType")) or None, block["data"]))
    return orjson.dumps(texts.without_bytes(block), default=str).decode()


def of_command(body: Record) -> Record:
    """`exec_command_end` and `CommandExecution`: stdout is empty under unified exec, aggregated_output is not."""
    printed = only_text(body.get("aggregated_output"))
    if not printed:
        printed = only_text(body.get("stdout")) + only_text(body.get("stderr")) or text_of(body.get("formatted_output"))
    code = body.get("exit_code")
    # What the user declined never ran, so it has no code.
    failed = code != 0 if isinstance(code, int) else True if body.get("status") in _FAILED else None
    return opt(text=printed, json=rest(body), isError=failed)


def of_patch(body: Record) -> Record:
    """`patch_apply_end` and `FileChange`."""
    success = body.get("success")
    if not isinstance(success, bool) and isinstance(body.get("status"), str):
        success = body["status"] == "completed"
    printed = only_text(body.get("stdout")) + only_text(body.get("stderr"))
    return opt(text=printed, isError=not success if isinstance(success, bool) else None)


def of_mcp(body: Record) -> Record:
    """`mcp_tool_call_end` wraps its result as {"Ok": …} or {"Err": text}; `McpToolCall` has result and error."""
    result, error = body.get("result"), body.get("error")
    if isinstance(result, dict) and ("Ok" in result or "Err" in result):
        error = result.get("Err")
        result = result.get("Ok")
    if error is not None:
        message = error.get("message") if isinstance(error, dict) else error
        return {
            "text": message if isinstance(message, str) else orjson.dumps(error, default=str).decode(),
            "isError": True,
        }
    if not isinstance(result, dict) or not isinstance(result.get("content"), (str, list)):
        return opt(text=result) if isinstance(result, str) else opt(json=texts.without_bytes(result))
    content = result["content"]
    structured = result.get("structuredContent") or result.get("structured_content")
    is_error = result.get("isError", result.get("is_error"))
    return opt(
        text=of_blocks(content) if isinstance(content, list) else content,
        json=texts.without_bytes(structured),
        isError=is_error if isinstance(is_error, bool) else None,
    )


def of_dynamic(body: Record) -> Record:
    items = body.get("content_items")
    success = body.get("success")
    text = of_blocks(items) if isinstance(items, list) else text_of(body.get("error"))
    return opt(text=text or text_of(body.get("error")), isError=not success if isinstance(success, bool) else None)


def of_rest(body: Record) -> Record:
    """Tools whose result is a handful of fields."""
    return opt(json=rest(body))


def rest(body: Record) -> Record | None:
    """The fields of a result that say more than its text."""
    left = {key: value for key, value in body.items() if key not in _REPEATED and value is not None}
    return texts.without_bytes(left) or None


def changes(body: Record) -> Record:
    """The edits of a patch by path: diffs, and for new or deleted files what they were called."""
    found = body.get("changes")
    return {"changes": found} if found is not None else {}
