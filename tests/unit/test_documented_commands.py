"""Every command, snippet and piece of a scenario in README.md and docs/ works as it stands there.

A command is run here, on small files of the names that it has, or it stands in ``NOT_RUN`` with the
reason; then the real command's options are parsed, and nothing is carried out. A new command in the
documentation has to be added to one of the two.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from harness.cli.main import main
from harness.experiments.reproduce.recipes import RECIPES
from harness.experiments.sweep.plan import plan_sweep
from harness.experiments.sweep.points import parse_variation
from tests.documentation import (
    DOCUMENTS,
    ROOT,
    Block,
    anchors,
    blocks,
    code_in,
    commands,
    links,
    words_of,
)
from tests.documented_files import make_documented_files
from traces.rounds_scenario import is_rounds_scenario, rounds_scenario_of
from traces.scenario import scenario_of
from traces.scenario_file import ScenarioFile


def _lines(text: str) -> list[str]:
    """A command each."""
    return [" ".join(line.split()) for line in text.splitlines()]


RUN = _lines("""\
roundelay simulate examples/two-vgg19.yaml -o runs/predicted
roundelay plan examples/two-vgg19.yaml --arm together
roundelay plan examples/synergy-deploy.yaml
roundelay validate runs/measured runs/predicted --within 5%
roundelay validate runs/both -o validation.html
roundelay validate runs/deploy
roundelay validate physical.csv simulated.csv --within 5%
roundelay validate 'results/*/job.csv' 'simulated/*/job.csv'
roundelay validate 'runs/emulated-*' runs/predicted --json
roundelay validate 'shockwave/*_physical.csv' 'shockwave/*_simulation.csv'
roundelay report runs/both runs/measured -o both.html
roundelay report runs/both runs/deploy -o report.html
roundelay trace convert philly.csv -o jobs.parquet
roundelay trace convert helios cluster_log.csv -o helios.parquet --rule drop-suspended=off
roundelay trace convert jobs.csv --mapping mapping.yaml -o own.parquet
roundelay trace mapping
roundelay trace formats
roundelay trace columns
roundelay trace generate poisson --jobs 1000 --rho 0.8 --num-gpus 128 \
    --durations exponential:mean=2h --gpu-mix gavel -o poisson.parquet
roundelay trace generate empirical philly.csv --length '4 weeks' --rho 0.8 --num-gpus 512 \
    -o like-philly.parquet
roundelay trace generate --help
roundelay trace describe poisson.parquet -o poisson.html
roundelay trace describe jobs.parquet poisson.parquet
roundelay trace describe jobs.parquet --share 1%
roundelay demand import kineto trace.json.gz -o resnet50.json
roundelay demand import all_reduce.*.et
roundelay demand fit eth0.csv -o job.json
roundelay demand show resnet50.json --link 10Gbit/s
roundelay demand show vgg19 -o vgg19.svg
roundelay demand show runs/network/profile.json
roundelay demand compat resnet50.json vgg19 --link 50Gbit/s
roundelay demand compat vgg19 vgg19 --link '50 Gbit/s'
roundelay reproduce --list
""")

EMULATES = "emulates, which needs root: tests/kernel/test_documented_commands.py"
LONG = "takes minutes"
TRAINS = "trains for as long as it takes: tests/training, tests/kernel"
MACHINE = "says or changes what the machine is: tests/kernel/test_documented_commands.py"
DATA = "needs published data: tests of reproduce"
PROCESSES = "starts processes of its own: tests/unit/harness/cli/test_sweep.py, tests/sweep"

NOT_RUN = {
    command: reason
    for reason, text in {
        EMULATES: """\
roundelay run examples/two-vgg19.yaml -o runs/both
roundelay run examples/two-vgg19.yaml --rootless
roundelay emulate examples/two-vgg19.yaml -o runs/measured
""",
        LONG: """\
roundelay simulate examples/synergy-load.yaml -o runs/load
roundelay run examples/cassini-dynamic.yaml -o runs/dynamic
roundelay run examples/tune-cassini.yaml -o runs/tune-cassini
roundelay run examples/real-and-replayed.yaml -o runs/replayed
roundelay run examples/synergy-deploy.yaml -o runs/deploy
roundelay emulate examples/synergy-deploy.yaml --schedule runs/predicted
roundelay emulate examples/synergy-deploy.yaml --resume runs/killed
roundelay sweep examples/synergy-load.yaml --vary scheduler.policy=fifo,srtf \
    --vary workload.generate.load=0.5..1.0:6 --seeds 10 -o runs/loads
roundelay reproduce synergy-split -o reproduced/split
roundelay reproduce synergy-deploy
roundelay reproduce synergy-profiling
roundelay reproduce cassini-dynamic --quick
roundelay reproduce replay-real
roundelay reproduce replay-real --quick
""",
        TRAINS: """\
roundelay profile sensitivity --model res18 --tiny --device cpu
roundelay profile sensitivity --model resnet50 --data imagenet/train --check 8
roundelay profile sensitivity -- python train.py --epochs 1000
roundelay profile stalls --model res18 --tiny --device cpu
roundelay profile stalls --cpus 4 -- python train.py --epochs 1000
roundelay profile network -- torchrun --nnodes 2 --rdzv-endpoint a:29400 train.py
roundelay profile network --kineto -- torchrun --nnodes 2 --rdzv-endpoint a:29400 train.py
roundelay profile network --hosts 2 --link '100 Mbit/s' --model toy -- python \
    -m profiler.real_jobs.data_parallel
roundelay profile network --hosts 2 --link '100 Mbit/s' --model toy -o runs/network -- python \
    -m profiler.real_jobs.data_parallel
""",
        MACHINE: """\
roundelay doctor
roundelay doctor --measure
roundelay clean
roundelay clean --dry-run
""",
        DATA: """\
roundelay reproduce synergy-oracle --data DIR
roundelay reproduce muri-physical --data DIR
roundelay reproduce pollux-jobload --data DIR
roundelay reproduce shockwave-fidelity --data DIR
roundelay reproduce --all --data DIR -o reproduced/all
""",
        PROCESSES: """\
roundelay sweep examples/two-vgg19.yaml --vary 'cluster.rate=10..50 Gbit/s:5' -o runs/rates
roundelay sweep examples/two-vgg19.yaml --vary cluster.sharing=fair,fifo --ray 10.0.0.1:6379
roundelay sweep examples/two-vgg19.yaml --vary cluster.sharing=fair,fifo --emulate
""",
    }.items()
    for command in _lines(text)
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("documented")
    make_documented_files(place)
    return place


@pytest.fixture
def here(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: files of its own, for each test."""
    place = tmp_path / "here"
    shutil.copytree(files, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("ROUNDELAY_STATE_DIR", str(tmp_path / "state"))
    return place


def roundelay(command: str, place: Path) -> Result:
    words = words_of(command, place)
    if "-o" in words:
        output = place / words[words.index("-o") + 1]
        if output.is_dir():
            shutil.rmtree(output)
        else:
            output.unlink(missing_ok=True)
    return CliRunner().invoke(main, words, prog_name="roundelay")


def test_every_command_is_run_or_said_why_not() -> None:
    documented = commands()
    unknown = {text: file for text, file in documented.items() if text not in {*RUN, *NOT_RUN}}
    assert not unknown
    assert not {*RUN, *NOT_RUN} - set(documented)
    assert not set(RUN) & set(NOT_RUN)


@pytest.mark.parametrize("command", RUN)
def test_a_documented_command_works(command: str, here: Path) -> None:
    result = roundelay(command, here)
    assert result.exit_code == 0, result.output
    if "-o" in command:
        assert Path(command.rpartition("-o ")[2].split()[0]).exists()


@pytest.mark.parametrize(
    ("begins", "printed_by"),
    [
        (
            "What it is",
            ["roundelay trace generate poisson", "roundelay trace describe poisson.parquet -o"],
        ),
        ("on one link of 50 Gbit/s", ["roundelay demand compat vgg19 vgg19"]),
    ],
)
def test_what_commands_print_is_documented_as_it_is(
    begins: str, printed_by: list[str], here: Path
) -> None:
    printed: list[str] = []
    for start in printed_by:
        (command,) = (command for command in RUN if command.startswith(start))
        printed = roundelay(command, here).output.splitlines()
    (shown,) = (block for block in code_in("") if block.text.lstrip().startswith(begins))
    assert {line.strip() for line in shown.text.splitlines()} <= {line.strip() for line in printed}


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_links_and_targets_of_make_are_there(file: Path) -> None:
    for target, anchor in links(file):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), anchor
    makefile = (ROOT / "Makefile").read_text().splitlines()
    for block in blocks(file)[0]:
        for name in re.findall(r"^make (\w+)", block.text, re.MULTILINE):
            assert any(line.startswith(f"{name}:") for line in makefile), name


def parsed(words: list[str]) -> click.Context:
    """The context of the verb that ``words`` are for; raises what click says of bad ones."""
    command: click.Command = main
    context = None
    while isinstance(command, click.Group):
        # With its settings, as when it is called: click keeps the first help option that it made.
        context = click.Context(command, context, **command.context_settings)
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"there is no verb {name}"
        command = found
    return command.make_context(command.name, words, parent=context)


@pytest.mark.parametrize("command", NOT_RUN)
def test_a_documented_command_that_is_not_run_is_understood(command: str) -> None:
    words = words_of(command, ROOT)
    context = parsed(words)
    for word in words:
        assert not word.startswith("examples/") or (ROOT / word).is_file()
    if words[0] == "reproduce" and not context.params["takes_all"]:
        recipe = RECIPES[context.params["recipe_id"]]
        assert recipe.quick is not None or not context.params["quick"]
    if words[0] == "sweep":
        source = ScenarioFile.read(ROOT / context.params["scenario_file"])
        varied = [parse_variation(text) for text in context.params["varied"]]
        emulated = context.params["emulated"]
        assert plan_sweep(source, varied, context.params["seeds"], emulated=emulated).points


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["emulat", "examples/two-vgg19.yaml"],
        ["run", "examples/two-vgg19.yaml", "--fast"],
        ["profile", "stalls", "--loader", "none"],
    ],
)
def test_what_is_no_command_is_told(words: list[str]) -> None:
    with pytest.raises((click.ClickException, AssertionError)):
        parsed(words)


def test_commands_are_found_wherever_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(
        "Text with `roundelay\nclean` and `plan`.\n\n"
        "    sudo roundelay run a.yaml   # CASSINI's\n"
        "    make demo\n\n"
        "- item\n"
        "    roundelay no code\n\n"
        "```sh\nroundelay sweep a.yaml \\\n    --vary 'b=1..2 s:3'\n```\n"
        "```\nroundelay says nothing\n```\n"
        "```yaml\nroundelay: 1\n```\n"
    )
    code, rest = blocks(file)
    assert [(block.language, block.text.count("\n")) for block in code] == [
        ("", 1), ("sh", 1), ("", 0), ("yaml", 0),
    ]  # fmt: skip
    assert "`roundelay\nclean`" in rest
    assert "no code" in rest


def _ids(found: list[Block]) -> list[str]:
    return [f"{block.document}-{number}" for number, block in enumerate(found)]


PYTHON = code_in("python")
YAML = code_in("yaml")


@pytest.mark.parametrize("snippet", PYTHON, ids=_ids(PYTHON))
@pytest.mark.usefixtures("here")
def test_a_python_snippet_runs(snippet: Block) -> None:
    exec(compile(snippet.text, snippet.document, "exec"), {})  # noqa: S102


@pytest.mark.parametrize("piece", YAML, ids=_ids(YAML))
def test_a_piece_of_yaml_is_a_scenario_or_fits_into_an_example(piece: Block, here: Path) -> None:
    part = yaml.safe_load(piece.text)
    example = "synergy-deploy" if "emulation" in part else "two-vgg19"
    whole = yaml.safe_load((here / "examples" / f"{example}.yaml").read_text())
    directory = here if "workload" in part else here / "examples"
    file = directory / "documented.yaml"
    file.write_text(yaml.safe_dump(part if "workload" in part else whole | part))
    source = ScenarioFile.read(file)
    scenario = rounds_scenario_of(source) if is_rounds_scenario(source) else scenario_of(source)
    assert scenario.arms
