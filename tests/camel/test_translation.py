"""A flow's text is written in Camel's way where Penstock's meaning differs."""

import pytest
import yaml

from penstock.flow.camel.quartz_cron import quartz_cron
from penstock.flow.camel.translation import KEY, translate


def test_a_variable_becomes_a_property_of_camel() -> None:
    translation = translate('- from: {uri: "timer:x", steps: [{setBody: {constant: "{{var:WHO.AM-I}}!"}}]}')
    assert f'"{{{{{KEY}WHO.AM-I}}}}!"' in translation.text
    assert translation.variables == {"WHO.AM-I"}


def test_braces_that_a_backslash_makes_plain_are_no_variable() -> None:
    source = "- from: {uri: 'timer:x', steps: [{setBody: {constant: '\\{{var:A}}'}}]}"
    assert translate(source).variables == frozenset()


@pytest.mark.parametrize(
    ("penstock", "quartz"),
    [
        ("0 0 12 * * *", "0 0 12 * * ?"),
        ("0 0 12 ? * 1-5", "0 0 12 ? * MON,TUE,WED,THU,FRI"),
        ("0 0 12 * * 7", "0 0 12 ? * SUN"),
        ("0 0 12 15 * *", "0 0 12 15 * ?"),
        ("0 0 12 * * SUN", "0 0 12 ? * SUN"),
        ("0/5 * * * * ?", "0/5 * * * * ?"),
        ("*/5 * * * *", "*/5 * * * ?"),
        ("0 0 12 L * ?", "0 0 12 L * ?"),
        ("0 0 12 * * 6-1", "0 0 12 ? * MON,SAT,SUN"),
        ("nonsense", "nonsense"),
    ],
)
def test_days_of_the_week_are_named_and_one_day_field_is_open(penstock: str, quartz: str) -> None:
    assert quartz_cron(penstock) == quartz


def test_a_schedule_in_an_address_is_rewritten_and_the_rest_stays() -> None:
    source = "# a comment\n- from:\n    uri: quartz:q?cron=0+0+12+*+*+1-2&durableJob=true # why\n    steps: []\n"
    text = translate(source).text
    assert "quartz:q?cron=0+0+12+?+*+MON,TUE&durableJob=true" in text
    assert "# a comment" in text
    assert "# why" in text


def test_a_schedule_among_the_parameters_is_rewritten() -> None:
    source = "- from:\n    uri: quartz:q\n    parameters:\n      cron: 0 0 12 * * 7\n    steps: []\n"
    [entry] = yaml.safe_load(translate(source).text)
    assert entry["from"]["parameters"]["cron"] == "0 0 12 ? * SUN"


@pytest.mark.parametrize(
    "step",
    [
        '{to: "sql:select 1?dataSource=#shop"}',
        '{to: {uri: "sql:select 1", parameters: {dataSource: "#shop"}}}',
        '{to: {uri: "sql:select 1", parameters: {dataSource: "#bean:shop"}}}',
    ],
)
def test_databases_are_found_however_they_are_named(step: str) -> None:
    assert translate(f'- from: {{uri: "timer:x", steps: [{step}]}}').data_sources == {"shop"}


def test_a_database_that_the_flow_makes_itself_is_left_to_it() -> None:
    bean = '- beans: [{name: shop, type: "#class:com.example.ShopSource"}]\n'
    source = bean + '- from: {uri: "timer:x", steps: [{to: "sql:select 1?dataSource=#shop"}]}\n'
    assert translate(source).data_sources == frozenset()


def test_paths_that_are_meant_with_all_below_them_are_found() -> None:
    source = '- from: {uri: "platform-http:/a?matchOnUriPrefix=true", steps: []}\n'
    assert translate(source).prefixes == {"/a"}
    assert translate(source.replace("true", "false")).prefixes == frozenset()
