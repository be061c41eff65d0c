"""The container builds parts once and says what is missing."""

import pytest

from penstock.server.container import Container, WiringError


class Port:
    pass


class Engine(Port):
    pass


class Policy:
    def __init__(self, limit: int = 3) -> None:
        self.limit = limit


class Car:
    def __init__(self, engine: Engine, policy: Policy) -> None:
        self.engine = engine
        self.policy = policy


class Driver:
    def __init__(self, port: Port, car: Car, spare: str = "none") -> None:
        self.port = port
        self.car = car
        self.spare = spare


class Chicken:
    def __init__(self, egg: "Egg") -> None: ...


class Egg:
    def __init__(self, chicken: Chicken) -> None: ...


@pytest.fixture
def container() -> Container:
    made = Container()
    made.declare([Engine, Car, Driver, Chicken, Egg])
    made.provide(Port, Engine)
    return made


def test_a_part_gets_what_its_constructor_names(container: Container) -> None:
    driver = container.get(Driver)
    assert driver.port is driver.car.engine is container.get(Port)
    assert driver.car is container.get(Car)


def test_settings_with_defaults_are_built_on_demand_and_given_ones_win(container: Container) -> None:
    assert container.get(Car).policy.limit == 3
    other = Container()
    other.declare([Engine, Car])
    other.put(Policy, Policy(9))
    assert other.get(Car).policy.limit == 9


class Traveller:
    def __init__(self, port: Port | None = None) -> None:
        self.port = port


def test_a_port_that_may_be_missing_is_filled_when_somebody_provides_it(container: Container) -> None:
    container.declare([Traveller])
    assert container.get(Traveller).port is container.get(Engine)
    alone = Container()
    alone.declare([Traveller])
    assert alone.get(Traveller).port is None


def test_a_missing_part_is_named_with_who_needs_it() -> None:
    container = Container()
    container.declare([Driver, Car, Engine])
    container.provide(Port, Chicken)
    with pytest.raises(WiringError, match=r"nobody provides .*Chicken, needed by Driver"):
        container.get(Driver)


def test_a_circle_is_told(container: Container) -> None:
    with pytest.raises(WiringError, match="Chicken -> Egg -> Chicken"):
        container.get(Chicken)


def test_a_port_has_one_provider(container: Container) -> None:
    with pytest.raises(WiringError, match="Port is provided by two areas"):
        container.provide(Port, Car)
