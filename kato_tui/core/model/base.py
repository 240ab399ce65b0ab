"""The base of every on-disk contract: frozen, camelCase on disk, unknown keys refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

CONTRACT = ConfigDict(
    frozen=True,
    extra="forbid",
    strict=True,
    alias_generator=to_camel,
    populate_by_name=True,
)

#: For the plain dataclasses that the hot loop mutates and the metadata embeds.
FACT_CONTRACT = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True)


class Contract(BaseModel):
    """A frozen value that is written to disk or sent over a wire under its camelCase names."""

    model_config = CONTRACT
