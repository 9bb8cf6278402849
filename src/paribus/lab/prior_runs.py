"""What earlier experiments on a machine tell about a plan for it."""

from paribus.errors import StoreError
from paribus.model import Facts, Plan


def informed(plan: Plan, facts: Facts, url: str | None) -> tuple[Plan, dict[str, float]]:
    """The plan with what depends on the machine, and the noise of a pair by workload; as it is in a new store."""
    from paribus.experiment import noise
    from paribus.store.open import open_engine, store_url

    try:
        store = open_engine(store_url(url), create=False)
    except StoreError:
        store = None
    return noise.plan_for_machine(store, plan, facts.fingerprint)
