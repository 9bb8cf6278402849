"""Verdicts of earlier experiments on a machine about the settings of an audit."""

from collections.abc import Mapping

from paribus.audit import LocalMeasurement, SettingInForce
from paribus.audit.facts import MILLISECONDS
from paribus.databases.server.variable import number_of
from paribus.lab.results.reporting import read_and_judge
from paribus.lab.store.stores import open_for_reading, read, store_exists, store_url
from paribus.model import FAMILIES, Effect, Experiment, ExperimentState
from paribus.units import show_percent

_SAME = ("host", "cpu", "memory")  # of a machine that is the same one, whatever else has changed
_PLACE = ("device", "device_serial", "filesystem")
_OF_DISKS = ("block", "mount", "md", "layout")
_MOST_EXPERIMENTS = 20  # the newest


def measurements(
    location: str | None, fingerprint: Mapping[str, str], server: str, settings: Mapping[str, SettingInForce]
) -> dict[str, list[LocalMeasurement]]:
    """The verdicts on throughput of finished experiments on the machine, by setting; none without a store.

    Those about a disk or a mount are of the same disk and file system, those of variables of the same kind of server.
    Raises StoreError for a store that cannot be read.
    """
    url = store_url(location)
    if not store_exists(url):
        return {}
    store = open_for_reading(url)
    by_setting: dict[str, list[LocalMeasurement]] = {}
    on_machine = [each for each in read.experiments(store) if _is_of(each, fingerprint)]
    about = [each for each in on_machine if any(name in each.plan_text for name in settings)]
    for experiment in about[:_MOST_EXPERIMENTS]:
        database = read.plan(store, experiment.id).database
        is_of_server = database is not None and database.kind == server
        is_of_disk = all(experiment.fingerprint.get(name) == fingerprint.get(name) for name in _PLACE)
        for effect in read_and_judge(store, experiment)[1].effects:
            family = effect.factor.partition(".")[0]
            is_here = is_of_disk if family in _OF_DISKS else is_of_server if family in FAMILIES.values() else True
            measured = _measurement(experiment, effect, settings[effect.factor]) if effect.factor in settings else None
            if is_here and measured:
                by_setting.setdefault(effect.factor, []).append(measured)
    return by_setting


def _is_of(experiment: Experiment, fingerprint: Mapping[str, str]) -> bool:
    is_same = all(experiment.fingerprint.get(name) == fingerprint.get(name) for name in _SAME)
    return experiment.state is ExperimentState.DONE and is_same and not experiment.is_emulated


def _measurement(experiment: Experiment, effect: Effect, now: SettingInForce) -> LocalMeasurement | None:
    """The verdict of an effect; None where it is of another response, of one load level, or has none."""
    if effect.response != "throughput_per_s" or effect.load is not None or effect.verdict is None:
        return None
    low, high, _ = effect.deciding
    return LocalMeasurement(
        experiment=experiment.id,
        workload=effect.workload,
        baseline=_level(effect.baseline, now),
        arm=_level(effect.arm, now),
        verdict=effect.verdict,
        change=f"{show_percent(effect.estimate)} [{show_percent(low)}, {show_percent(high)}]",
    )


def _level(text: str, now: SettingInForce) -> SettingInForce:
    """A level of a plan in the unit that the setting is read in."""
    is_time = now.unit == MILLISECONDS
    number = None if isinstance(now.value, str) else number_of(text, "ms" if is_time else "", time=is_time)
    if number is None:
        return now.model_copy(update={"value": text})
    scaled = number * 1000 if is_time else number
    return now.model_copy(update={"value": int(scaled) if scaled.is_integer() else scaled})
