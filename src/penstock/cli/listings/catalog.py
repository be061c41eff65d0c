"""All that `penstock get` shows; a file of this folder for each subject."""

from penstock.cli.listings import (
    agents,
    apipackages,
    apis,
    channels,
    coresystems,
    endpoints,
    entities,
    events,
    flows,
    integrationservices,
    kinds,
    schedules,
    services,
    streams,
    transfers,
    triggers,
    users,
    variables,
    webhooks,
    webjobs,
)
from penstock.cli.listings.listing import Listing

LISTINGS: tuple[Listing, ...] = (
    *agents.LISTINGS,
    *flows.LISTINGS,
    *transfers.LISTINGS,
    *coresystems.LISTINGS,
    *schedules.LISTINGS,
    *webjobs.LISTINGS,
    *triggers.LISTINGS,
    *integrationservices.LISTINGS,
    *apipackages.LISTINGS,
    *endpoints.LISTINGS,
    *apis.LISTINGS,
    *variables.LISTINGS,
    *streams.LISTINGS,
    *channels.LISTINGS,
    *events.LISTINGS,
    *webhooks.LISTINGS,
    *entities.LISTINGS,
    *services.LISTINGS,
    *users.LISTINGS,
    *kinds.LISTINGS,
)


def listing_named(name: str) -> Listing | None:
    """The listing of this name or alias, without case."""
    wanted = name.casefold()
    return next((each for each in LISTINGS if wanted == each.name or wanted in each.aliases), None)
