"""No node of the two published contamination models is tagged with another layer, whatever the tagger is given."""

import argparse

import contamination
import evaluate
import export
import pytest

import report


@pytest.fixture(scope="module")
def jobs(programs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("contamination")
    for name, (build, inputs) in contamination.MODELS.items():
        made = export.Export(name, build, inputs, str(folder / name), core=True, distinct=False)
        result = made.run()
        assert not [v for v in result.values() if isinstance(v, str) and v != name], result
    args = argparse.Namespace(bin=programs, jobs=2, modes=list(report.GOALS), models=[])
    return evaluate.evaluate(folder, folder / "work", args)


@pytest.mark.parametrize("model", contamination.MODELS)
@pytest.mark.parametrize("mode", report.GOALS)
def test_no_contamination(jobs, model, mode):
    mine = [j for j in report.of_mode(jobs, mode) if j.model == model]
    assert len(mine) == 4, "ts, ts-dyn, dynamo, dynamo-dyn"
    for job in mine:
        assert not job.error
        assert job.score["covered"] == job.score["nodes"]
        assert job.score["contaminated"] == 0, (job.file, job.score)


def test_the_exporter_shares_what_is_equal(jobs):
    """Checks that the model is the hard case that it is meant to be."""
    import onnx

    [job] = [
        j for j in report.of_mode(jobs, "as exported") if (j.model, j.graph) == ("two_layers", "ts")
    ]
    kinds = [n.op_type for n in onnx.load(job.source).graph.node]
    assert kinds.count("Identity") == 8
