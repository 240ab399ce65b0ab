"""The base of every on-disk contract: frozen, camelCase on disk, unknown keys refused."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

#: JSON readers take no more, and neither does the writer of our files: what was read can be written again.
MAX_INTEGER: Final = 2**63 - 1
Integer = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]

CONTRACT = ConfigDict(
    frozen=True,
    extra="forbid",
    strict=True,
    alias_generator=to_camel,
    populate_by_name=True,
    # Built when first used: a process that only asks for a status pays for what that needs.
    defer_build=True,
)

#: For the plain dataclasses that the hot loop mutates and the metadata embeds.
FACT_CONTRACT = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True)


class Contract(BaseModel):
    """A frozen value that is written to disk or sent over a wire under its camelCase names."""

    model_config = CONTRACT
