// One file that opens from a disk: browsers load no modules and no WebAssembly by address from there.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** `import bytes from "x.wasm?base64"` */
const base64: Plugin = {
  name: "base64",
  enforce: "pre",
  load(id) {
    const [file, query] = id.split("?");
    if (query !== "base64" || file === undefined) return null;
    return `export default "${readFileSync(file).toString("base64")}"`;
  },
};

/** Only the page's own script runs, with the simulator in a worker; nothing is asked for but of `pslc lab`, where it serves. */
const policy = (script: string) => [
  "default-src 'none'", `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}' 'wasm-unsafe-eval'`, "worker-src blob: data:",
  "style-src 'unsafe-inline'", "img-src data: blob:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
].join("; ");

/** Scripts and styles go into the page itself. */
const inline: Plugin = {
  name: "inline",
  enforce: "post",
  generateBundle(_, bundle) {
    const page = bundle["index.html"];
    if (page?.type !== "asset") return;
    let html = String(page.source);
    for (const [name, file] of Object.entries(bundle)) {
      if (file.type === "chunk") {
        html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, "");
        const code = file.code.replaceAll("</script", "<\\/script");
        html = html.replace("</body>", () => `<script>${code}</script>\n</body>`);
        html = html.replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy(code)}" />`);
        delete bundle[name];
      } else if (name.endsWith(".css")) {
        html = html.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${String(file.source)}</style>`);
        delete bundle[name];
      }
    }
    page.source = html;
  },
};

export default defineConfig({
  base: "./",
  plugins: [base64, inline],
  worker: { format: "iife" },
  build: {
    outDir: "../target/web",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: { output: { format: "iife" } },
  },
});
