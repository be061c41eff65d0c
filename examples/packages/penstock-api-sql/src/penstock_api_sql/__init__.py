"""A SQL database as a REST API."""

from penstock_api_sql.application import sql

__all__ = ["sql"]
