"""Limits of a plan, checked before every trial and in every second of its load."""

from paribus.engine.protocol import Interval
from paribus.engine.run import probe
from paribus.errors import LimitReached
from paribus.hosts.fitness import hottest
from paribus.hosts.transport import Host
from paribus.model import Limits
from paribus.units import show_size, show_time


def refuse_machine(limits: Limits, host: Host, engine: str, path: str) -> None:
    """Raise LimitReached where the machine is too full or too hot for another trial; HostError, EngineError."""
    if limits.free_bytes is not None:
        free_bytes = probe(host, engine, path).directory.free_bytes
        if free_bytes < limits.free_bytes:
            limit = show_size(limits.free_bytes)
            raise _reached("free_space", f"{show_size(free_bytes)} are free at {path}, less than {limit}")
    if limits.temperature_c is not None:
        hottest_c = hottest(host)
        if hottest_c is not None and hottest_c > limits.temperature_c:
            raise _reached(
                "temperature", f"the hottest sensor is at {hottest_c:.0f} °C, over {limits.temperature_c:.0f} °C"
            )


def refuse_load(limits: Limits, interval: Interval) -> None:
    """Raise LimitReached where a second of the load was worse than the plan allows."""
    p99_s = interval.p99_s
    if limits.response_p99_s is not None and p99_s is not None and p99_s > limits.response_p99_s:
        limit = show_time(limits.response_p99_s)
        raise _reached("response_p99_s", f"the p99 response time was {show_time(p99_s)}, over {limit}")
    errors_per_s = sum(interval.errors.values()) / max(interval.duration_s, 1e-9)
    if limits.errors_per_s is not None and errors_per_s > limits.errors_per_s:
        raise _reached(
            "errors_per_s", f"the workload reported {errors_per_s:,.0f} errors per second, over {limits.errors_per_s:g}"
        )


def _reached(key: str, observation: str) -> LimitReached:
    return LimitReached(f"limit reached: {observation}", f"lower the load, or change limits.{key} of the plan")
