"""Analyses as the HTTP API answers them."""

from penstock.engine.documents.analysis import Analysis
from penstock.kernel.wire import Wire


class ParameterTypeNameAndName(Wire):
    """A parameter. TypeName: string, integer, number, boolean, array, object, null or any; date, date-time or time for
    texts of that form.
    """

    type_name: str | None = None
    name: str | None = None


class DibAnalyzationResult(Wire):
    """What a document is. UpdatedDocument: with each `@input` made a parameter that `#!value` declares."""

    original_document: str | None = None
    updated_document: str | None = None
    return_type_name: str | None = None
    parameter_names_and_type_names: list[ParameterTypeNameAndName] | None = None


def analyzation_result(analysis: Analysis) -> DibAnalyzationResult:
    """The analysis as the API answers it."""
    return DibAnalyzationResult(
        original_document=analysis.source,
        updated_document=analysis.updated,
        return_type_name=analysis.returns,
        parameter_names_and_type_names=[
            ParameterTypeNameAndName(type_name=parameter.type, name=parameter.name) for parameter in analysis.parameters
        ],
    )
