"""Notebooks: documents that are kept, analyzed and run with parameters."""

from penstock.areas.notebooks.http import NotebookOperations
from penstock.areas.notebooks.model import NOTEBOOKS
from penstock.areas.notebooks.service import NotebookService
from penstock.resource.area import Area
from penstock.resource.ports.scripts import Notebooks

AREA = Area(
    name="notebooks",
    collections=(NOTEBOOKS,),
    services=(NotebookService,),
    handlers=(NotebookOperations,),
    provides=((Notebooks, NotebookService),),
)
