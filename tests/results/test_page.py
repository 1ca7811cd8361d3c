"""The page in a real browser: no error, no network, sorting and details work."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.envscaler.playground import door
from tests.results.playground import FAULT, log, sample, scored

BROWSER = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
PROBE = """
<script>
"use strict";
const table = document.querySelector("table.results");
const column = name => [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === name);
const shown = () => [...table.tBodies[0].rows].filter(row => row.dataset.line !== undefined)
  .map(row => row.cells[0].textContent.slice(1) + " " + row.cells[2].textContent).join(", ");
const click = name => { table.tHead.rows[0].cells[column(name)].querySelector("button").click(); return shown(); };
const found = { start: shown(), down: click("reward"), up: click("reward"), name: click("model") };
table.querySelector("button.open").click();
const detail = table.querySelector("tr.detail");
found.bars = detail.querySelectorAll(".bar span").length;
found.links = [...detail.querySelectorAll("a")].map(link => link.getAttribute("href"));
found.moved = click("reward");
found.kept = table.querySelector("tr.detail").previousElementSibling.cells[0].textContent;
const out = document.createElement("pre");
out.id = "probe";
out.textContent = JSON.stringify(found);
document.body.append(out);
</script>
</body>
"""


def page(folder: Path) -> Path:
    log(folder, *(sample(f"s{i}", 1, scored(float(i > 1))) for i in range(4)), name="a", model="alpha", whole=4)
    log(
        folder / "deep",
        sample("s<0>", 1, scored(1.0)),
        sample("s1", 1, {**scored(0.0), "stop_reason": "step_limit"}),
        sample("s2", 1, FAULT, "EnvironmentFault"),
        name="b",
        model="</script><b>beta",
        whole=3,
    )
    log(folder, sample("s0", 1, scored(1.0)), name="c", model="gamma", whole=1)
    to = folder / "page.html"
    result = door("results", folder, "--format", "html", "--to", to, "--reference", "all")
    assert result.exit_code == 0, result.output
    return to


def browse(*arguments: str) -> subprocess.CompletedProcess[str]:
    if BROWSER is None:
        pytest.skip("no browser; install it with: apt-get install chromium")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    # Whatever asks for a name fails, so that a page that needs the network shows an error.
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--log-level=0", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def console(run: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def test_the_page_sorts_opens_details_and_reports_no_error(tmp_path: Path) -> None:
    import json

    to = page(tmp_path)
    probed = tmp_path / "probed.html"
    text = to.read_text()
    assert text.count("</body>") == 1
    probed.write_text(text.replace("</body>", PROBE))
    run = browse(f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", probed.as_uri())
    assert console(run) == []
    (shown,) = re.findall(r'<pre id="probe">(.*?)</pre>', run.stdout, re.DOTALL)
    found = json.loads(shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    alpha, beta, gamma = "alpha Base", "</script><b>beta Base", "gamma Base"
    assert found["start"] == ", ".join([beta, alpha, gamma])
    # Both have 50; a stable sort leaves them as they stood.
    assert found["down"] == ", ".join([gamma, beta, alpha])
    assert found["up"] == ", ".join([beta, alpha, gamma])
    assert found["name"] == ", ".join([gamma, alpha, beta])
    assert found["bars"] == 1
    (link,) = [link for link in found["links"] if "samples/sample" in link]
    assert re.fullmatch(r"http://127\.0\.0\.1:7575/#/logs/\S+_c\.eval/samples/sample/s0/1", link)
    assert found["kept"].endswith("gamma")


def test_an_error_of_a_page_would_be_seen(tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text("<script>missing()</script>")
    run = browse(f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", broken.as_uri())
    assert any("missing is not defined" in line for line in console(run))


def test_the_page_asks_nobody_for_anything(tmp_path: Path) -> None:
    text = page(tmp_path).read_text()
    assert "default-src 'none'" in text
    assert not re.findall(r"<(?:link|script|img|iframe)[^>]+(?:src|href)=[\"']?(?!data:)", text)
    assert "<b>beta" not in text.partition("<script")[0]
    assert "deep/" in text


def test_a_screenshot_is_made(tmp_path: Path) -> None:
    shot = tmp_path / "page.png"
    run = browse(
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--screenshot={shot}",
        "--window-size=1400,900",
        page(tmp_path).as_uri(),
    )
    assert console(run) == []
    assert shot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert shot.stat().st_size > 10_000
