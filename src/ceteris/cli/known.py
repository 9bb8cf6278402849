"""What earlier experiments on a machine tell about a plan for it."""

from ceteris.errors import StoreError
from ceteris.model import Facts, Plan


def informed(plan: Plan, facts: Facts, url: str | None) -> tuple[Plan, dict[str, float]]:
    """The plan with what depends on the machine, and the noise of a pair by workload; as it is in a new store."""
    from ceteris.experiment import noise
    from ceteris.store.open import open_engine, store_url

    try:
        store = open_engine(store_url(url), create=False)
    except StoreError:
        store = None
    return noise.informed(store, plan, facts.fingerprint)
