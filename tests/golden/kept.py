"""Files kept beside what makes them.

After an intended change: `PENSTOCK_WRITE_GOLDEN=1 make test`, and read the difference before committing it.
"""

import os
from pathlib import Path


def assert_kept(path: Path, found: str) -> None:
    """Compares with the file, or writes it when told to."""
    if os.environ.get("PENSTOCK_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found)
    assert found == path.read_text(), f"{path.name} changed; PENSTOCK_WRITE_GOLDEN=1 writes it anew"
