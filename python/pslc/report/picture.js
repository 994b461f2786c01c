// The pictures of a page, and of files made of them. A palette is { ink, line, paper, wash, lines }.
const LIGHT = { ink: "#1c2024", line: "#d9dde1", paper: "#ffffff", wash: "#f5f6f8",
  lines: ["#0068a8", "#c04a00", "#00755a", "#a8437f", "#7a5c00", "#5b50b5", "#40484f", "#a01c1c", "#2f7d1f", "#0d7c8c"] };
const DARK = { ink: "#e6e8ea", line: "#343a40", paper: "#14171a", wash: "#1d2125",
  lines: ["#56b4e9", "#ff9a5c", "#3ddbb0", "#e8a3cd", "#f0d24c", "#b3a9ff", "#c3cad1", "#ff8a8a", "#9fe08a", "#6fd6e4"] };
const FILE = { width: 1600, height: 900 };

function laidOut(figure, palette) {
  const axis = given => Object.assign(
    { gridcolor: palette.line, zerolinecolor: palette.line, linecolor: palette.line, automargin: true }, given);
  return Object.assign({}, figure.layout, {
    colorway: palette.lines, font: { color: palette.ink, size: 13 }, paper_bgcolor: palette.paper,
    plot_bgcolor: palette.paper, hoverlabel: { bgcolor: palette.wash, namelength: -1 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, margin: { l: 60, r: 15, t: 30, b: 45 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: palette.ink, activecolor: palette.ink },
    xaxis: axis(figure.layout.xaxis), yaxis: axis(figure.layout.yaxis),
  });
}

// For a file: the drive, the conditions and the date are on it, and its letters fit its size.
function published(figure, palette) {
  const layout = laidOut(figure, palette);
  const lines = wrapped(figure.about.conditions, 150, 3), more = 24 * (lines.length - 1);
  const title = figure.about.drive ? figure.about.drive + ": " + figure.title : figure.title;
  return Object.assign(layout, FILE, {
    font: { color: palette.ink, size: 22 },
    title: { text: escaped(title), font: { size: 30 }, x: 0.01, xanchor: "left", y: 0.975, yanchor: "top",
      subtitle: { text: lines.map(escaped).join("<br>"), font: { size: 19 } } },
    margin: { l: 110, r: 30, t: (figure.layout.showlegend ? 175 : 125) + more, b: 90 },
  });
}

// Lines of so many letters at most, and no more than `most` of them.
function wrapped(text, letters, most) {
  const lines = [];
  for (let left = text; left; ) {
    const at = left.length > letters ? left.lastIndexOf(" ", letters) : left.length;
    const line = left.slice(0, at > 0 ? at : letters);
    left = left.slice(line.length).trim();
    if (lines.length === most - 1 && left) return [...lines, line.slice(0, letters - 1) + "\u2026"];
    lines.push(line);
  }
  return lines.length ? lines : [""];
}

// Plotly reads titles as HTML.
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function pictureFile(figure, format, palette) {
  const data = figure.data.map(line => Object.assign({}, line,
    line.mode ? { line: Object.assign({ width: 3 }, line.line) } : {}));
  return Plotly.toImage({ data, layout: published(figure, palette) }, Object.assign({ format, scale: 1 }, FILE));
}

// What follows is of pages; files are drawn without it.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 40rem)");
const palette = () => dark.matches ? DARK : LIGHT;
// Zooming, and nothing that leaves the page.
const CONFIG = { responsive: true, displaylogo: false, modeBarButtons: [["zoom2d", "pan2d", "resetScale2d"]] };

// Draw a figure into the element of its name.
function drawn(figure) {
  const layout = laidOut(figure, palette());
  if (narrow.matches) Object.assign(layout, { annotations: [], margin: { l: 45, r: 5, t: 20, b: 40 } });
  return Plotly.react(figure.id, figure.data, layout, CONFIG);
}

// Buttons that save a picture: `find` gives the figure of a name.
function onSave(find) {
  document.addEventListener("click", async event => {
    const button = event.target.closest("button[data-format]");
    if (!button) return;
    const figure = find(button.dataset.of), format = button.dataset.format;
    const white = button.parentElement.querySelector("input").checked;
    const link = document.createElement("a");
    link.href = await pictureFile(figure, format, white ? LIGHT : palette());
    link.download = figure.id + "." + format;
    link.click();
  });
}

// A table that is wider than its place says that it goes on.
function cue() {
  for (const box of document.querySelectorAll(".wide")) box.classList.toggle("on", box.scrollWidth > box.clientWidth + 1);
}
