"""Looking for bytes in everything that an application keeps."""

from pathlib import Path


def files_that_contain(folder: Path, text: str) -> list[Path]:
    """The files below the folder whose bytes contain the text."""
    wanted = text.encode()
    return [path for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]
