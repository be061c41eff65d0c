"""Paths of operations as routes."""

from penstock.server.route_path import RoutePath


def test_a_parameter_that_is_a_whole_segment_keeps_its_value() -> None:
    path = RoutePath("/things/{thingId}/parts/{part}")
    assert path.template == "/things/{thingId:str}/parts/{part:str}"
    assert path.values({"thingId": "a", "part": "b"}) == {"thingId": "a", "part": "b"}


def test_text_around_a_parameter_is_taken_off() -> None:
    path = RoutePath("/queues/my{name}queue/{id}")
    assert path.template == "/queues/{name:str}/{id:str}"
    assert path.values({"name": "mybluequeue", "id": "1"}) == {"name": "blue", "id": "1"}


def test_a_segment_without_the_text_is_another_path() -> None:
    path = RoutePath("/queues/my{name}queue")
    for segment in ("blue", "mybluequeues", "yourbluequeue", "myqueue", "myque"):
        assert path.values({"name": segment}) is None
