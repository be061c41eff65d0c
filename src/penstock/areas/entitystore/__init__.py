"""The entity store: the latest and the last few values of things, by type and id."""

from penstock.areas.entitystore.http import EntityStoreHandlers
from penstock.areas.entitystore.service import EntityStore
from penstock.areas.entitystore.worker import BucketMaking
from penstock.resource.area import Area

AREA = Area(
    name="entitystore",
    services=(EntityStore,),
    handlers=(EntityStoreHandlers,),
    workers=(BucketMaking,),
)
