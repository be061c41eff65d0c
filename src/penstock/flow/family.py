"""What kinds of things a flow is written with; a problem names one when this engine lacks it."""

from enum import StrEnum


class Family(StrEnum):
    """The first four are folders of elements; the others are parts of elements."""

    COMPONENT = "component"
    STEP = "step"
    LANGUAGE = "language"
    DATA_FORMAT = "data format"
    OPTION = "option"
    ROUTE_OPTION = "route option"
    FUNCTION = "function"
    OPERATOR = "operator"
    EXCEPTION = "exception"


FOLDERS = {
    Family.COMPONENT: "components",
    Family.STEP: "eips",
    Family.LANGUAGE: "languages",
    Family.DATA_FORMAT: "dataformats",
}
"""Where the elements of a family are declared."""
