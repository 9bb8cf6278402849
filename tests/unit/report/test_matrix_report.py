"""A matrix as HTML, Markdown, terminal text and JSON."""

import io
import json

import jsonschema
from report_samples import EXPERIMENT, Bench
from rich.console import Console

from paribus.findings import Bound, Ceiling, Estimate, Knee, Matrix, MatrixPoint, MatrixSeries
from paribus.report.charts import chart_worker, charts
from paribus.report.experiment_view import ReportView, view
from paribus.report.inputs import ReportInput
from paribus.report.render import html, markdown, text
from paribus.report.render.document import ReportDocument, document

_LEVELS = (0, 1, 4, 16, 64)


def _around(value: float) -> Estimate:
    return Estimate(value, value * 0.98, value * 1.02)


def _point(small: int, large: int) -> MatrixPoint:
    rate = 61_000 * min(1.0, small / 16) * (0.5 if large else 1.0)
    measured = {"bytes_per_s": _around(rate * 8192 + large * 9e8)}
    if small:
        measured |= {"small_per_s": _around(rate), "small_response_mean_s": _around(small / rate)}
    if large:
        measured["large_bytes_per_s"] = _around(large * 9e8)
    bound = Bound.NOTHING if small < 16 else Bound.BOTH if large else Bound.IOPS
    return MatrixPoint(small=small, large=large, measured=measured, trials=(small + 1, small + 90), bound=bound)


def _series(share: float, large: int) -> MatrixSeries:
    return MatrixSeries(
        workload=f"matrix-{share}-{large}",
        write_share=share,
        large=large,
        points=tuple(_point(small, large) for small in _LEVELS if small or large),
        peak_at=16,
        peak_per_s=_around(30_500 if large else 61_000),
        knee=Knee(level=Estimate(16.2, 15.1, 17.4), per_s=60_000, response_s=0.00027) if share == 0 else None,
        bend=(4, 16),
    )


def matrix(rounds: int = 3) -> Matrix:
    shares = (0.0, 0.2)
    return Matrix(
        name="matrix",
        small_block_bytes=8192,
        large_block_bytes=2**20,
        rounds=rounds,
        confidence=0.95,
        ceilings=tuple(Ceiling(write_share=s, small_per_s=_around(61_000), bytes_per_s=_around(2e9)) for s in shares),
        series=tuple(_series(share, large) for share in shares for large in (0, 1)),
    )


EMPTY = Matrix(
    name="later", small_block_bytes=8192, large_block_bytes=2**20, rounds=0, confidence=0.95, ceilings=(), series=()
)


def _view(*matrices: Matrix) -> ReportView:
    return view(ReportInput(experiment=EXPERIMENT, findings=matrices))


def _printed(seen: ReportView, width: int = 80) -> str:
    out = io.StringIO()
    text.render(seen, Console(file=out, width=width))
    return out.getvalue()


def test_the_answer_comes_first_and_in_one_sentence() -> None:
    found = _view(matrix())
    assert found.headline == (
        "8 KiB random reads: 61,000/s at 262 µs with 16 outstanding; knee at 16 [15, 17], 60,000/s at 270 µs; "
        "beyond it the device is IOPS-bound"
    )
    reads, writes = found.matrices[0].shares
    assert reads.sentences[1].startswith("8 KiB random reads, with 1 large sequential: 30,500/s at 525 µs with 16")
    assert reads.sentences[2] == "1 MiB sequential reads alone: 858 MiB/s with 1 outstanding, not at a limit yet"
    assert writes.title == "20 % writes"
    assert writes.sentences[0].startswith("8 KiB random I/O, 20 % writes: ")
    assert "no knee up to there" in writes.sentences[0]


def test_small_operations_stand_down_and_large_ones_across() -> None:
    iops, bandwidth, mean, bound = _view(matrix()).matrices[0].shares[0].tables
    assert (iops.unit, bandwidth.unit, mean.unit) == ("IOPS", "MiB/s", "ms")
    assert iops.columns == (0, 1)
    assert [small for small, _ in iops.rows] == list(_LEVELS)
    assert iops.rows[0][1] == (None, None)
    assert [figure.text if figure else "" for figure in bound.rows[3][1]] == ["IOPS", "both"]


def test_every_form_holds_the_figures(tmp_path: object) -> None:
    seen = _view(matrix(), EMPTY)
    for shown in (_printed(seen), markdown.render(seen), html.render(seen)):
        for words in ("61,000", "knee at 16", "20 % writes", "IOPS", "no point was measured validly yet"):
            assert words in shown.replace("\N{NO-BREAK SPACE}", " ").replace("\\", ""), words
    assert "Verdicts" not in markdown.render(seen)


def test_the_matrix_fits_eighty_columns() -> None:
    lines = _printed(_view(matrix())).split("\n")
    assert max(len(line) for line in lines) <= 80
    assert "…" not in "".join(lines)


def test_one_round_promises_no_interval() -> None:
    assert "interval" not in _view(matrix(rounds=1)).matrices[0].reading


def test_a_curve_is_drawn_for_each_write_share() -> None:
    drawn = charts.of_view(_view(matrix()))["matrix-1"]
    assert list(drawn) == ["matrix-1-1", "matrix-1-2"]
    with chart_worker.drawing(list(drawn.values()), charts.CONFIG) as pictures:
        assert charts.standalone(charts.still(pictures[0](), "a matrix")).startswith("<svg")


def test_the_document_says_it_in_numbers() -> None:
    written = json.loads(document(ReportInput(experiment=EXPERIMENT, findings=[matrix()])).model_dump_json())
    jsonschema.validate(written, ReportDocument.model_json_schema(mode="serialization"))
    (found,) = written["matrices"]
    assert found["series"][0]["points"][-1]["bound"] == "iops"
    assert found["series"][0]["knee"]["level"] == {"value": 16.2, "low": 15.1, "high": 17.4}
    assert found["series"][0]["points"][0]["measured"]["small_per_s"]["value"] == 61_000 / 16


def test_factors_beside_a_matrix_are_shown_too() -> None:
    bench = Bench()
    bench.trial("k", "a", baseline=True, workload="w", load=1)
    seen = view(ReportInput(experiment=EXPERIMENT, trials=bench.trials, findings=[matrix()]))
    assert "## I/O matrices" in markdown.render(seen)
    assert "## Verdicts" in markdown.render(seen)
