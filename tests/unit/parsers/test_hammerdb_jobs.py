"""JSON of HammerDB's jobs: which result the times of a job belong to."""

from paribus.parsers import formats
from paribus.parsers.log import LogRun


def _times(calls: int) -> str:
    return f'TRANSACTION RESPONSE TIMES\n{{\n  "NEWORD": {{\n    "calls": "{calls}",\n    "avg_ms": "3.257"\n  }}\n}}\n'


def _result(users: int) -> str:
    lines = [
        f"{users} Active Virtual Users configured",
        f"TEST RESULT : System achieved {users}00 NOPM from 900 MariaDB TPM",
    ]
    return "HAMMERDB RESULT\n[\n" + ",\n".join(f'  "{line}"' for line in lines) + "\n]\n"


def _runs(text: str) -> list[tuple[int | None, list[str]]]:
    def calls(run: LogRun) -> list[str]:
        return [reading.stated for reading in run.readings if reading.metric == "operations"]

    return [(run.load, calls(run)) for run in formats.read(text).runs]


def test_times_before_their_result_belong_to_it() -> None:
    assert _runs(_times(11) + _result(5) + _times(12) + _result(9)) == [(5, ["11"]), (9, ["12"])]


def test_times_after_their_result_belong_to_it() -> None:
    assert _runs(_result(5) + _times(11) + _result(9) + _times(12)) == [(5, ["11"]), (9, ["12"])]


def test_times_of_two_jobs_in_a_row_stay_alone() -> None:
    runs = _runs(_times(11) + _times(12) + _result(5) + _result(9))
    assert runs == [(None, ["11"]), (None, ["12"]), (5, []), (9, [])]


def test_times_after_two_results_stay_alone() -> None:
    runs = _runs(_result(5) + _result(9) + _times(11) + _times(12))
    assert runs == [(5, []), (9, []), (None, ["11"]), (None, ["12"])]
