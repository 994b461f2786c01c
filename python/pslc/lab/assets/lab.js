// What of the page needs no answer of the server's. Pictures are drawn as in reports: shared.js.
(() => {
  const $ = id => document.getElementById(id);
  const set = (id, props) => window.dash_clientside.set_props(id, props);
  let figures = [], more = [], brought = [], inside = null, shown = null, address = "", timer = null;

  // A number with its unit, as knobs.number reads it.
  function number(text, units) {
    const found = /^(-?[0-9.]+)\s*([A-Za-z/%]*)$/.exec(text.trim().replace(",", "."));
    return found && found[2] in units ? parseFloat(found[1]) * units[found[2]] : null;
  }

  function sync(place, text, stops) {
    const no = window.dash_clientside.no_update;
    const by = window.dash_clientside.callback_context.triggered_id;
    if (!by || text === undefined) return [no, no];
    if (by.type === "slide") {
      const wanted = stops.texts[place];
      return [no, wanted === text ? no : wanted];
    }
    let at = stops.texts.indexOf(text);
    if (at < 0) {
      const wanted = number(text || "", stops.units);
      if (wanted === null) return [no, no];
      const far = stops.numbers.map(one => one === null ? Infinity : Math.abs(one - wanted));
      at = far.indexOf(Math.min(...far));
    }
    return [at === Number(place) ? no : at, no];
  }

  // Dash gives the field that takes files no name.
  new MutationObserver(() => {
    const files = document.querySelector("#drop input:not([aria-label])");
    if (files) files.setAttribute("aria-label", "Files to analyse");
  }).observe(document, { childList: true, subtree: true });

  // What is too large is not even read into the page. The limit is the server's, which refuses it too.
  function tooLarge(event) {
    const drop = event.target.closest && event.target.closest("#drop");
    const files = drop && (event.type === "drop" ? event.dataTransfer.files : event.target.files);
    if (!files) return;
    const bytes = [...files].reduce((sum, file) => sum + file.size, 0), limit = Number($("most").dataset.bytes);
    if (bytes <= limit) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    event.target.value = "";
    const message = `the files have ${Math.ceil(bytes / 1e6)} MB, but the page reads at most ${limit / 1e6} MB`;
    set("dropped", { children: trouble({ what: message, hint: "pslc analyze, pslc trace show and pslc replay read larger files" }) });
  }
  for (const kind of ["drop", "change"]) window.addEventListener(kind, tooLarge, true);

  // The address of the page says all that is on it. Not at once: browsers allow few changes a second.
  let later = null;
  function remember(bench) {
    address = document.body.dataset.bench = bench;
    clearTimeout(later);
    later = setTimeout(() => history.replaceState(history.state, "", location.pathname + address), 150);
    return window.dash_clientside.no_update;
  }

  const all = () => [...figures, ...more, ...brought];
  const find = id => all().find(one => one.id === id);
  const visible = element => element && element.offsetParent !== null;

  function drawAll() {
    for (const figure of all()) if (visible($(figure.id))) drawn(figure);
    cue();
    strip();
  }

  // React may not have put the places of pictures there yet.
  function soon(tries) {
    requestAnimationFrame(() => {
      if (all().some(figure => !$(figure.id)) && tries > 0) return soon(tries - 1);
      drawAll();
      listen();
    });
  }

  // What a drive made smaller says, until the exact curve is there.
  function rough(coarse) {
    if (!coarse) return "";
    if (!coarse.fine) return "refused: see the knob";
    const stale = shown !== coarse.address;
    $("main").classList.toggle("stale", stale && !coarse.lines);
    // What is said is of the curve before, and is dimmed until it is of this one.
    $("findings").classList.toggle("stale", stale);
    if (stale && coarse.lines) roughly(coarse.lines);
    return stale ? (coarse.lines ? "coarse, the exact curve follows" : "running") : "exact";
  }

  function draw(answer, looked) {
    if (!answer) return window.dash_clientside.no_update;
    inside = looked || null;
    figures = answer.figures;
    shown = answer.address;
    for (const id of ["main", "findings"]) $(id).classList.remove("stale");
    document.body.dataset.shown = shown;
    if (figures.length) $("main").setAttribute("aria-label", figures[0].label);
    soon(30);
    return "exact";
  }

  function others(given) {
    more = given || [];
    soon(30);
    return window.dash_clientside.no_update;
  }

  function given(pictures) {
    brought = pictures || [];
    soon(30);
    return window.dash_clientside.no_update;
  }

  // The lines of smaller drives in the place of those that are not known yet.
  function roughly(lines) {
    const main = find("main") || { id: "main", data: [], layout: { xaxis: { title: { text: "GB written" } },
      yaxis: { title: { text: "MB/s" }, rangemode: "tozero" }, showlegend: lines.length > 1 }, about: {} };
    const data = lines.map((line, at) => line
      ? { type: "scatter", mode: "lines", name: line.name, x: line.x, y: line.y, line: { dash: "solid" } }
      : main.data[at]).filter(Boolean);
    drawn({ ...main, data, layout: { ...main.layout, shapes: [], annotations: [] } });
  }

  function listen() {
    const main = $("main");
    if (!main || main.listening || !main.on) return;
    main.listening = true;
    main.on("plotly_hover", event => {
      if (!inside || !event.xvals || (find("main").layout.xaxis.title || {}).text !== "GB written") return;
      const x = event.xvals[0];
      let low = 0, high = inside.gb.length - 1;
      while (low < high) { const middle = (low + high) >> 1; if (inside.gb[middle] < x) low = middle + 1; else high = middle; }
      if (low !== now) set("moment", { value: low });
    });
  }

  let now = 0;
  function moment(value, looked) {
    inside = looked || null;
    now = Math.min(Number(value) || 0, inside ? inside.gb.length - 1 : 0);
    strip();
    $("moments").hidden = $("strip").hidden = !inside;
    if (!inside) { $("strip-said").textContent = ""; return ["", ""]; }
    return [inside.sentences[now], inside.why[inside.phase[now]] || ""];
  }

  // A drawing of the drive: a cell for each superblock.
  const KINDS = ["native", "folding", "pslc", "free"];
  const NAMES = { native: "native", folding: "folding", pslc: "pSLC", free: "free" };
  function strip() {
    const canvas = $("strip");
    if (!canvas || !inside || !visible(canvas)) return;
    const colours = { native: palette().lines[1], folding: palette().ink, pslc: palette().lines[0], free: palette().wash };
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = 90;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const draw = canvas.getContext("2d");
    draw.scale(ratio, ratio);
    const total = inside.superblocks;
    let size = Math.floor(Math.sqrt(width * height / total));
    while (size > 1 && Math.floor(width / size) * Math.floor(height / size) < total) size -= 1;
    size = Math.max(size, 1);
    const rows = Math.max(Math.floor(height / size), 1), gap = size > 3 ? 1 : 0;
    const across = Math.ceil(total / rows), wide = across * size > width ? width / across : size;
    let at = 0;
    for (const kind of KINDS) {
      draw.fillStyle = colours[kind];
      draw.strokeStyle = palette().line;
      for (let i = 0; i < inside[kind][now] && at < total; i += 1, at += 1) {
        const x = Math.floor(at / rows) * wide, y = (at % rows) * size;
        draw.fillRect(x, y, Math.max(wide - gap, 0.5), size - gap);
        if (kind === "free" && size > 3) draw.strokeRect(x + 0.5, y + 0.5, wide - gap - 1, size - gap - 1);
      }
    }
    const said = KINDS.map(kind => `${inside[kind][now]} ${NAMES[kind]}`).join(", ");
    const key = KINDS.map(kind => `<span class="key" style="background:${colours[kind]}"></span>${inside[kind][now]} ${NAMES[kind]}`);
    $("strip-said").innerHTML = `${total} superblocks: ${key.join(" ")}`;
    canvas.setAttribute("aria-label", `${total} superblocks after ${inside.gb[now]} GB: ${said}`);
  }

  function play() {
    const button = $("play");
    if (timer) { clearInterval(timer); timer = null; button.textContent = "Play"; return; }
    if (!inside) return;
    if (now >= inside.gb.length - 1) now = -1;
    button.textContent = "Pause";
    timer = setInterval(() => {
      if (!inside || now >= inside.gb.length - 1) return play();
      set("moment", { value: now + 1 });
    }, 40);
  }

  function trouble(said) {
    if (!said) return [];
    $("state").textContent = "failed";
    const paragraph = (said, className) => ({ namespace: "dash_html_components", type: "P", props: { children: said, className } });
    return [paragraph(said.what, "doubt"), paragraph(`hint: ${said.hint}`, "dim")];
  }

  async function copy(button) {
    const name = button.dataset.copy;
    const text = name === "address-bar" ? location.origin + location.pathname + address : $(name).textContent;
    try {
      await navigator.clipboard.writeText(text);
      $("copied").textContent = "copied";
    } catch {
      // Only pages of this machine may write to the clipboard.
      const details = document.querySelector("#carry details");
      details.open = true;
      getSelection().selectAllChildren($(name === "address-bar" ? "command" : name));
      $("copied").textContent = "select it, and copy";
    }
  }

  // Two clicks into the picture of a chart are the corners of its plot, in pixels of the picture.
  let corner = null;
  function corners(event) {
    const picture = event.target, box = picture.getBoundingClientRect();
    const scale = picture.naturalWidth / box.width;
    const at = [event.clientX - box.left, event.clientY - box.top].map(pixels => Math.round(pixels * scale));
    if (!corner) { corner = at; return; }
    const edges = [0, 1].map(axis => [corner[axis], at[axis]].sort((a, b) => a - b));
    const frame = [edges[0][0], edges[1][0], edges[0][1], edges[1][1]].join(",");
    set({ of: picture.dataset.of, type: "chart-frame" }, { value: frame });
    corner = null;
  }

  document.addEventListener("click", event => {
    if (event.target.id === "chart-picture") corners(event);
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
    if (event.target.id === "play") play();
  });
  document.addEventListener("change", event => {
    const { choice, drive } = event.target.dataset || {};
    if (choice) set("choice", { data: { kind: choice, drive, value: event.target.value } });
  });
  document.addEventListener("toggle", event => {
    if (event.target.id === "recordings-part") set("recordings-open", { data: event.target.open });
    if (event.target.id === "more-pictures") set("more-open", { data: event.target.open });
    if (event.target.open) drawAll();
  }, true);
  // Dash calls its radio buttons and check boxes options of a list; they are labels of native inputs.
  function plain() {
    for (const label of document.querySelectorAll("label[role], label[aria-selected]")) {
      label.removeAttribute("role");
      label.removeAttribute("aria-selected");
    }
    for (const list of document.querySelectorAll("[role=listbox]")) list.removeAttribute("role");
  }
  new MutationObserver(plain).observe(document.documentElement,
    { subtree: true, childList: true, attributes: true, attributeFilter: ["role", "aria-selected"] });
  onSave(find);
  dark.addEventListener("change", drawAll);
  window.addEventListener("resize", () => { cue(); strip(); });

  // The page without its server: said, not endured.
  const ask = window.fetch;
  let open = 0;
  window.fetch = async (...of) => {
    document.body.setAttribute("aria-busy", (open += 1) > 0);
    try {
      return await ask(...of);
    } catch (error) {
      if (error.name !== "AbortError") set("problem", { data: { what: "pslc lab does not answer", hint: "start it again: pslc lab" } });
      throw error;
    } finally {
      document.body.setAttribute("aria-busy", (open -= 1) > 0);
    }
  };

  window.dash_clientside = Object.assign({}, window.dash_clientside, { lab: { sync, remember, rough, draw, others, given, moment, trouble } });
})();
