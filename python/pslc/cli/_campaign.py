"""Run a campaign from the command line: check, ask, run, save, print, end. `pslc run` and `pslc replay` share it."""

import contextlib
import io
import os
import signal
import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pslc.base import json_text
from pslc.base.console import discard, say
from pslc.base.ends import hear
from pslc.cli import _recording_folder
from pslc.cli._job_arguments import COMMAND_LINE
from pslc.cli._output_format import OutputFormat
from pslc.cli._run_options import Outputs

if TYPE_CHECKING:
    from pslc.cli._progress import Bar
    from pslc.cli._recording_folder import Views
    from pslc.figures.view import View
    from pslc.recording.model import Recording
    from pslc.runner.campaign import CampaignSpec
    from pslc.runner.plan import Plan
    from pslc.schema.results import Silence


def execute(spec: "CampaignSpec", outputs: Outputs) -> None:
    """Run a campaign, then save and print its recordings.

    Raises:
        PslcError: it cannot be run, a job or a suite failed.
        Exit: it was declined or interrupted, or a result could not be put where it was to be.
    """
    from pslc.base.errors import user_error

    _check(spec, outputs)
    folder = outputs.folder or _new_folder(spec, outputs)
    if folder is not None and not outputs.is_resumed:
        _recording_folder.check(folder)
    spec = _keeping_ends(spec, folder, outputs)
    failures: list[str] = []
    recordings = _run(spec, folder, outputs, failures)
    if not recordings:
        raise user_error(f"every suite failed: {'; '.join(failures)}", "run the first one alone: pslc run SUITE")
    views = cache(partial(_views, recordings))
    pages = views if outputs.report else None
    saved = _recording_folder.save_runs(spec, recordings, folder, pages) if folder is not None else None
    is_complete = _write_logs(spec) and (saved is None or saved.has_page)
    is_complete = _print_to(spec, recordings, outputs, views) and is_complete
    saved_in = saved.folder if saved else None
    if saved_in is not None:
        page = f", pictures: {saved_in / 'report.html'}" if outputs.report else ""
        say(f"recording: {saved_in}{page}", err=True)
    _end(spec, recordings, saved_in, failures)
    if saved_in != folder or not is_complete:
        raise typer.Exit(_recording_folder.EXIT_NOT_SAVED)


# ---- before the run


def _check(spec: "CampaignSpec", outputs: Outputs) -> None:
    """Refuse what would fail only at the end.

    Raises:
        PslcError: there is no plan to print, `--output` cannot be written, or there is no log of the meter.
    """
    from pslc.base import writer
    from pslc.base.errors import user_error
    from pslc.device.target import is_new

    if outputs.dry_run and is_new(spec.on):
        raise user_error(
            f"--dry-run is for real drives, and {spec.on} is simulated",
            f"pslc run --list --on {spec.on} shows what each suite writes and takes",
        )
    if outputs.file is not None:
        try:
            writer.check(outputs.file, writer.Replace.ANY)
        except OSError as error:
            raise user_error(f"{outputs.file}: {error.strerror}", "give --output a file that can be written") from None
    if spec.meter is not None and not spec.meter.is_file():
        raise user_error(f"{spec.meter} is not a file", "start the log of the meter before the run")


def _keeping_ends(spec: "CampaignSpec", folder: Path | None, outputs: Outputs) -> "CampaignSpec":
    """The campaign, with a folder for both ends of a device that it will erase, or for the switch of its buffer."""
    from pslc.base import writer
    from pslc.device.target import RealOptions

    real = spec.options.real
    # A simulated drive has none of these options.
    if real is None or real == RealOptions() or outputs.dry_run:
        return spec
    if real.destroy_data is None and real.cache is None and not _switches(spec):
        return spec
    kept_in = folder or writer.lasting()
    if folder is None and real.destroy_data is not None:
        say(f"note: both ends of {spec.on} are kept in {kept_in}: pslc undo {kept_in} puts them back", err=True)
    return replace(spec, options=replace(spec.options, real=replace(real, ends=kept_in)))


def _switches(spec: "CampaignSpec") -> bool:
    """Whether the subject is a suite that switches the buffer of a drive."""
    from pslc import suites

    return spec.subject in suites.names() and suites.switches(spec.subject)


def _new_folder(spec: "CampaignSpec", outputs: Outputs) -> Path | None:
    """A new folder in runs/; None where the results are only printed, or nothing is run."""
    if outputs.formats or outputs.dry_run:
        return None
    from pslc.base.output_dirs import new_folder

    return new_folder(_slug(spec))


def _slug(spec: "CampaignSpec") -> str:
    """Name of a run folder, without its time."""
    from pslc import suites
    from pslc.device.target import name_in

    subject = str(spec.options.more[0]) if spec.subject in suites.OF_FILES and spec.options.more else spec.subject
    if subject == COMMAND_LINE:
        subject = next(value for name, value in spec.options.options if name == "name")
    return f"{'stdin' if subject == '-' else Path(subject).stem}-{Path(name_in(spec.on)).stem}"


# ---- the run


def _run(spec: "CampaignSpec", folder: Path | None, outputs: Outputs, failures: list[str]) -> "list[Recording]":
    """Run with a bar; each suite that failed goes into `failures`."""
    from pslc.base.errors import PslcError
    from pslc.cli._progress import Bar
    from pslc.runner import campaign
    from pslc.runner.callbacks import DeclinedError

    def leave(silence: "Silence") -> None:
        kept = keeper.leave()
        count = silence["under_way"]
        left = f"left {count} request{'s' if count > 1 else ''} unanswered; {kept}"
        # Whatever it is sent, the kernel keeps a process that waits for a request itself, and may keep others.
        keeps = "keeps pslc" if silence.get("is_held") else "may keep pslc"
        say(f"{left}; the kernel {keeps} until the drive answers", err=True)
        os._exit(130)

    with Bar(spec.subject, leave) as bar, _recording_folder.RunKeeper(spec, folder, bar.log) as keeper:

        def interrupt(*_: object) -> None:
            # What follows saves the recording, to the end of the process, however often one is heard.
            bar.interrupt()

        def fail(suite: str, error: Exception) -> None:
            message = error.message if isinstance(error, PslcError) else str(error)
            failures.append(f"{suite}: {message or type(error).__name__}")
            bar.log(f"failed: {failures[-1]}")

        hear(interrupt)
        options = replace(spec.options, progress=bar, confirm=partial(_confirm, bar, outputs), log=bar.log)
        try:
            return campaign.run(replace(spec, options=options), on_checkpoint=keeper, on_failure=fail)
        except DeclinedError:
            raise typer.Exit(0 if outputs.dry_run else 2) from None
        finally:
            # What follows saves the recording, to the end of the process.
            hear(signal.SIG_IGN)


def _confirm(bar: "Bar", outputs: Outputs, plan: "Plan") -> bool:
    """Show the plan, and ask if somebody can answer.

    A file that pslc did not make needs consent of its own, whatever --yes says. A run of days starts only with consent.
    """
    from pslc.base.errors import GuardError, JobError

    bar.pause()
    for sentence in plan.sentences:
        say(f"plan: {sentence}", err=not outputs.dry_run)
    if plan.fio:
        say(f"plan: as fio: {plan.fio}", err=not outputs.dry_run)
    if outputs.dry_run:
        return False
    can_ask = sys.stdin is not None and sys.stdin.isatty()
    if plan.overwrites is not None:
        name = Path(plan.overwrites["path"]).name
        if outputs.yes or not can_ask:
            raise GuardError(
                f"{name} exists, and pslc did not create it",
                f"to overwrite it: --overwrite-file {name}; nothing was written",
                code="file-not-written-by-pslc",
            )
        answer = typer.prompt(f'Type "yes" to lose what is in {name}', default="no", show_default=False, err=True)
        agreed = bool(answer == "yes")
    else:
        if plan.takes_days and not outputs.yes and not can_ask:
            raise JobError("the run takes days", "add --yes to start it, or --runtime=1h to end it earlier")
        agreed = outputs.yes or not can_ask or typer.confirm("Go on?", err=True)
    if not agreed:
        say("nothing was written", err=True)
    bar.resume()
    return agreed


# ---- after the run


def _views(recordings: "list[Recording]") -> "list[View]":
    """Views of the recordings, for their page and for the terminal."""
    from pslc.report import recording_view

    return [recording_view.of_recording(recording) for recording in recordings]


def _write_logs(spec: "CampaignSpec") -> bool:
    """Write the logs of the jobs, after the recording, which matters more; returns whether all could be written."""
    failures = spec.options.logs.write() if spec.options.logs else []
    for failure in failures:
        say(f"warning: {failure}", err=True)
    return not failures


def _print_to(spec: "CampaignSpec", recordings: "list[Recording]", outputs: Outputs, views: "Views") -> bool:
    """Print the results to stdout or to a file; returns whether they could be written."""
    from pslc.base.errors import GuardError

    try:
        _print_all(spec, recordings, outputs, views)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads it has had enough.
        raise
    except (OSError, GuardError) as error:
        place, file = "--output", f"{outputs.file}: "
        if outputs.file is None:
            place, file = "the output", ""
            discard(sys.stdout)
        reason = error.message if isinstance(error, GuardError) else f"{file}{error.strerror or error}"
        say(f"warning: {place} is not written: {reason}", err=True)
        return False
    return True


def _print_all(spec: "CampaignSpec", recordings: "list[Recording]", outputs: Outputs, views: "Views") -> None:
    """Print each format; notes go to stderr unless they are in what the terminal shows."""
    if outputs.formats or outputs.file is not None or not sys.stdout.isatty():
        for note in dict.fromkeys(
            note for recording in recordings for note in recording.warnings if note.level == "note"
        ):
            say(f"note: {note}", err=True)
    with contextlib.ExitStack() as stack:
        text = stack.enter_context(contextlib.redirect_stdout(io.StringIO())) if outputs.file is not None else None
        wanted: list[OutputFormat | None] = [*outputs.formats] or [None]
        for output_format in wanted:
            _print(spec, recordings, output_format, views, has_report=outputs.report)
    if outputs.file is not None and text is not None:
        from pslc.base import writer

        writer.write(outputs.file, text.getvalue(), writer.Replace.ANY)


def _print(
    spec: "CampaignSpec",
    recordings: "list[Recording]",
    output_format: OutputFormat | None,
    views: "Views",
    *,
    has_report: bool,
) -> None:
    """Print in one format; only JSON and the report show more than the first recording."""
    first = recordings[0]
    match output_format:
        case OutputFormat.JSON:
            is_list = spec.is_catalogue
            document = [recording.document() for recording in recordings] if is_list else first.document()
            print(json_text.text(document))
        case OutputFormat():
            from pslc import extras

            print(extras.service(extras.Service.OUTPUTS).text(first, output_format.value))
        case None:
            from pslc.report import terminal

            if spec.is_catalogue:
                terminal.show_all(views())
            else:
                terminal.show(views()[0], has_report=has_report)


def _end(spec: "CampaignSpec", recordings: "list[Recording]", folder: Path | None, failures: list[str]) -> None:
    """End as an error or an exit, if a run ended early or did not run at all.

    Raises:
        PslcError: a job or a suite failed.
        Exit: it was interrupted.
    """
    from pslc.base import words
    from pslc.base.errors import POLICY_FAILED, PolicyError, user_error

    last = recordings[-1]
    if spec.is_catalogue:
        failures += [f"{recording.suite}: {recording.error}" for recording in recordings if recording.error]
    elif last.error_code == POLICY_FAILED:
        raise PolicyError(f"the run ended early: {last.error}", last.facts["policy_error"])
    elif last.error:
        raise user_error(f"the run ended early: {last.error}", _next_step(last.error_code, folder))
    if last.interrupted:
        kept = f"; the recording so far is in {folder}" if folder else ""
        say(f"interrupted after {words.span(last.drive_time_s)} of drive time{kept}", err=True)
        if folder and (last.steps or spec.is_catalogue):
            say(f"to resume: pslc run --resume {folder}", err=True)
        raise typer.Exit(130)
    if failures:
        hint = f"correct the cause, then: pslc run --resume {folder}" if folder else "run one alone to see more"
        raise user_error(f"{len(failures)} of {len(spec.runs)} suites failed: {'; '.join(failures)}", hint)


def _next_step(code: str | None, folder: Path | None) -> str:
    from pslc.device import condition

    if code == "run-unwritten":
        return (
            "let a job write it first (rw=write, then stonewall), remove --no-layout, or measure on a file with data: "
            "--reuse; for a trace: --prefill"
        )
    if code in ("run-no-room", "system-no-room"):
        return "the drive is full: free some space, or give a smaller --size"
    if code == condition.GONE:
        return "connect it again, and see pslc probe for its health"
    if code == "run-medium-error" or code in condition.CODES:
        return "copy what it holds, and see pslc probe for its health"
    return f"the recording so far is in {folder}" if folder else "--save DIR saves the recording so far"
