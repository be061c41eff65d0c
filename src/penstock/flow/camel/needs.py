"""stub"""


def needed_packages(source: str) -> set[str]:
    return set()
