"""API packages and APIs in the form of the API."""

from penstock.apihost.message import DescribedApi
from penstock.areas.apipackages.model import (
    ApiPackageInstallation,
    IntegrationApi,
    IntegrationApiPackage,
    IntegrationApiPackageAgent,
)
from penstock.areas.apipackages.stored import StoredPackage


def identifier_of(api: DescribedApi) -> str:
    """Like `api:sql@1.0.0`."""
    return f"api:{api.name}@{api.version}"


def shown_api(package: StoredPackage, api: DescribedApi) -> IntegrationApi:
    return IntegrationApi(
        api_package_id=package.key,
        package_name=package.package,
        package_version=package.installed.version,
        api_name=api.name,
        api_version=api.version,
        configuration_schema=api.schema,
        description=api.description,
        product_version=package.installed_version,
        identifier=identifier_of(api),
    )


def shown_package(package: StoredPackage) -> IntegrationApiPackage:
    return IntegrationApiPackage(
        **package.base,
        package_name=package.package,
        package_version=package.installed.version,
        apis=[shown_api(package, api) for api in package.apis],
        status=package.status,
    )


def shown_installation(package: StoredPackage) -> ApiPackageInstallation:
    return ApiPackageInstallation(
        status=package.status,
        message=package.message,
        problems=package.problems,
        digest=package.digest,
        updated=package.update_date or package.created_date,
    )


def shown_to_agents(package: StoredPackage) -> IntegrationApiPackageAgent:
    return IntegrationApiPackageAgent(
        id=package.key, package_name=package.package, package_version=package.installed.version
    )
