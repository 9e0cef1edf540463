"""Does what a step of a study asks for: hand out, share, merge, verify, unblind, publish, return.

On threads; each act says that it works, then what came of it, in place. Opens nothing twice and
remembers no result beyond the verdict of a verification, which lapses when the files change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.failures import sentence
from app.presenters.study_standing import Standing, standing_of
from app.presenters.study_steps import Verdict, outstanding_words
from app.services import Services
from app.shown_study import PublishAsked, ReaderAsked, VerdictShown
from db.session import is_url
from studies.errors import BadAnswers, BadRequest, BadStudy
from studies.preference.merge import Merged, merge
from studies.preference.packs import answers_name, make_pack, return_answers
from studies.preference.share import Shared, share
from studies.preference.share import logins_of as pairs_of
from studies.preference.unblind import unblind
from studies.preference.verify import verify

TONES = {"merged": "good", "same": "quiet", "older": "warn"}


class StudyDesk:
    """The acts on the chosen study.

    Args:
        view: the page.
        services: the program's objects.
        chosen: gives the study in hand, None if there is none.
        changed: called after something was written, and after a verification.
    """

    def __init__(
        self,
        view: Any,
        services: Services,
        *,
        chosen: Callable[[], Standing | None],
        changed: Callable[[], None],
    ) -> None:
        self.view, self.services = view, services
        self._chosen, self._tell_changed = chosen, changed
        self.verdicts: dict[str, Verdict] = {}
        self._checking = ""
        self._connect()

    def _connect(self) -> None:
        view = self.view
        view.pack_wanted.connect(self._hand)
        view.share_wanted.connect(self._share)
        view.merge_wanted.connect(self.merge)
        view.unblind_wanted.connect(self._unblind)
        view.publish_wanted.connect(self._publish)
        view.folder_wanted.connect(lambda folder: view.open_folder(folder))
        view.return_wanted.connect(self._return)

    @property
    def checking(self) -> str:
        """The study that is being verified."""
        return self._checking

    def fold(self) -> None:
        """Another study: what was said about the last one is wiped."""
        self.view.show_panel("")
        self.view.show_hand("")
        self.view.show_merge("")
        self.view.show_publish("")
        self.view.show_return("")

    def start(self, step: str, standing: Standing) -> None:
        """A step's action was chosen."""
        if step == "read":
            self.services.go("review", standing.info.id)
        elif step == "verify":
            self._verify(standing)
        elif step == "unblind" and standing.info.unblinded:
            self.services.go("statistics", standing.info.id)
        elif step == "unblind" and self.view.opened != step:
            self.view.show_unblind(standing.info.title, outstanding_words(standing))
        elif self.view.opened == step:
            self.view.show_panel("")
        else:
            if step == "return":
                name = answers_name(standing.info.title, standing.seat)
                self.view.show_return("", suggested=name)
            if step == "merge":
                shared = [pack.url for pack in standing.info.packs if pack.url]
                self.view.show_merge("", address=shared[-1] if shared else "")
            self.view.show_panel(step)

    # -- hand out

    def _hand(self, asked: ReaderAsked, out: str) -> None:
        standing = self._chosen()
        if standing is None:
            return
        self.view.show_hand(f"Writing the pack of {asked.name}…", busy=True)
        path = standing.info.path

        def work() -> Path:
            return make_pack(
                path, Path(out), rater=asked.name, specialty=asked.specialty, years=asked.years,
                modalities=asked.modalities, display=asked.display,
            )  # fmt: skip

        self.services.tasks.run(self, work, self._handed, self._not_handed)

    def _handed(self, file: Path) -> None:
        told = f"{file.name} is written. Give it to its reader; it holds no model's name."
        self.view.show_hand(told, "good")
        self._written()

    def _not_handed(self, error: Exception) -> None:
        self.view.show_hand(sentence(error), "error")

    def _share(self, url: str, role: str, typed: str) -> None:
        standing = self._chosen()
        if standing is None:
            return
        try:
            logins = logins_of(typed)
        except (BadRequest, BadStudy) as error:
            self._not_handed(error)
            return
        self.view.show_hand("Copying the study to the database…", busy=True)
        path = standing.info.path
        self.services.tasks.run(
            self,
            lambda: share(path, url, role=role, logins=logins),
            self._shared,
            self._not_handed,
        )

    def _shared(self, shared: Shared) -> None:
        self.view.show_hand(
            f"Shared. Readers open it with: triptych study open '{shared.raters_url}'. "
            + shared.privacy,
            "good",
        )
        self._written()

    # -- take back

    def merge(self, sources: Sequence[str]) -> None:
        """Take files or shared databases back into the chosen study."""
        standing = self._chosen()
        if standing is None or not sources:
            return
        self.view.show_panel("merge")
        count = len(sources)
        self.view.show_merge(f"Checking {count} {'file' if count == 1 else 'files'}…", busy=True)
        path, given = standing.info.path, tuple(sources)

        def work() -> tuple[VerdictShown, ...]:
            try:
                return tuple(map(_verdict, merge(path, given)))
            except BadAnswers as error:
                good = [_verdict(one) for one in error.merged if isinstance(one, Merged)]
                bad = [VerdictShown(_short(source), why, "error") for source, why in error.refused]
                return (*bad, *good) or (VerdictShown("Answers", sentence(error), "error"),)

        self.services.tasks.run(self, work, self._merged, self._not_merged)

    def _merged(self, verdicts: tuple[VerdictShown, ...]) -> None:
        refused = sum(verdict.tone == "error" for verdict in verdicts)
        told = f"{len(verdicts) - refused} of {len(verdicts)} taken."
        tone = "good" if not refused else "warn"
        self.view.show_merge(told, tone, verdicts=verdicts)
        self._written()

    def _not_merged(self, error: Exception) -> None:
        self.view.show_merge(sentence(error), "error")

    # -- verify, unblind

    def _verify(self, standing: Standing) -> None:
        info = standing.info
        self._checking = info.id
        self._tell_changed()

        def work() -> tuple[str, Verdict]:
            faults = verify(info.path)
            now = standing_of(info)
            at = datetime.now(UTC).strftime("%H:%M UTC")
            return info.id, Verdict(faults, now.stamp, now.entries, at)

        self.services.tasks.run(self, work, self._verified, self._not_verified)

    def _verified(self, found: tuple[str, Verdict]) -> None:
        self._checking = ""
        self.verdicts[found[0]] = found[1]
        self._tell_changed()

    def _not_verified(self, error: Exception) -> None:
        self._checking = ""
        self.services.notify.error(sentence(error))
        self._tell_changed()

    def _unblind(self, passphrase: str, reason: str) -> None:
        standing = self._chosen()
        if standing is None:
            return
        path = standing.info.path
        self.services.tasks.run(
            self,
            lambda: unblind(path, passphrase, reason).info,
            self._unblinded,
            lambda error: self.view.show_unblind_problem(sentence(error)),
        )

    def _unblinded(self, info: Any) -> None:
        self.view.show_panel("")
        self.services.notify.good(
            f"Study '{info.title}' is unblinded.",
            action="See statistics",
            act=lambda: self.services.go("statistics", info.id),
            leads="statistics",
        )
        self._written()

    # -- publish, return

    def _publish(self, asked: PublishAsked, folder: str) -> None:
        standing = self._chosen()
        if standing is None:
            return
        self.view.show_publish("Computing and writing; the bootstrap takes a moment.", busy=True)
        path = standing.info.path

        def work() -> tuple[str, int, tuple[str, ...]]:
            # Statistics and figures pull in large libraries; only here, on a thread.
            from studies.preference.kit.keeping import remarks
            from studies.preference.kit.publish import publish

            made = publish(path, Path(folder), comments=asked.comments, names=asked.names)
            return folder, len(made), remarks(made)

        self.services.tasks.run(
            self,
            work,
            self._published,
            lambda error: self.view.show_publish(sentence(error), "error"),
        )

    def _published(self, found: tuple[str, int, tuple[str, ...]]) -> None:
        folder, count, kept = found
        told = " ".join([f"{count} files are in {folder}.", *kept])
        self.view.show_publish(told, "good", folder=folder)
        self.view.open_folder(folder)

    def _return(self, out: str) -> None:
        standing = self._chosen()
        if standing is None:
            return
        self.view.show_return("Signing the answers…", busy=True)
        path = standing.info.path
        self.services.tasks.run(
            self,
            lambda: return_answers(path, Path(out)),
            lambda file: self.view.show_return(
                f"{file.name} is written. Send it to the coordinator.", "good"
            ),
            lambda error: self.view.show_return(sentence(error), "error"),
        )

    def _written(self) -> None:
        self.services.changes.tell("study", origin="study page")


def logins_of(typed: str) -> dict[str, str]:
    """Who alone may read under which name, out of ``NAME=LOGIN, NAME=LOGIN``.

    Raises:
        BadRequest: a part that is no such pair, or a name twice.
        BadStudy: a name of which nothing is left.
    """
    return pairs_of(filter(str.strip, typed.replace(";", ",").split(",")))


def _verdict(one: Merged) -> VerdictShown:
    return VerdictShown(_short(one.source), one.sentence, TONES.get(one.state, "quiet"))


def _short(source: str) -> str:
    """A file by its name; an address as it came, which is without its password."""
    return source if is_url(source) else Path(source).name
