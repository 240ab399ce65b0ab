"""What readers see of a running engine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kato_tui.core.hub import Hub


def test_what_is_put_together_is_seen_together() -> None:
    hub = Hub()
    with ThreadPoolExecutor(1) as pool:
        with hub.together():
            hub.put_dirty("one")
            reader = pool.submit(hub.changes, 0, 5)
            with pytest.raises(TimeoutError):
                reader.result(0.1)
            hub.put_events([{"seq": 1}])
        delta = reader.result(5)
    assert delta.dirty == ("one",)
    assert delta.events == ({"seq": 1},)
