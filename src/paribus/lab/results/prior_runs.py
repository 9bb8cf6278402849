"""Results of earlier experiments on a machine, for planning a new one."""

from paribus.errors import StoreError
from paribus.model import Facts, Plan


def with_prior_runs(plan: Plan, facts: Facts, url: str | None) -> tuple[Plan, dict[str, float]]:
    """The plan adapted to the machine, and the standard deviation of a pair by workload.

    Without a store, the plan is unchanged and the deviations are empty.
    """
    from paribus.experiment import noise
    from paribus.store.open import open_engine, store_url

    try:
        store = open_engine(store_url(url), create=False)
    except StoreError:
        store = None
    return noise.plan_for_machine(store, plan, facts.fingerprint)
