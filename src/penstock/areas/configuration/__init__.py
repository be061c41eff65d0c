"""Configuration documents: YAML that declares what is to exist, applied all or nothing."""

from penstock.areas.configuration.http import ConfigurationOperations
from penstock.areas.configuration.service import ConfigurationService
from penstock.resource.area import Area

AREA = Area("configuration", services=(ConfigurationService,), handlers=(ConfigurationOperations,))
