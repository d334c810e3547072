// Builds the scripts into dist and writes dist/manifest.json, which names each entry's file. Run as `npm run build`.
import { build } from "esbuild";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = join(here, "dist");

for (const name of readdirSync(dist)) if (name !== ".gitkeep") rmSync(join(dist, name));

const result = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/page.js", console: "src/console.js", api: "src/api.js" },
  outdir: dist,
  entryNames: "[name]-[hash]",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
});

const manifest = {};
for (const [file, output] of Object.entries(result.metafile.outputs)) {
  if (output.entryPoint) manifest[basename(output.entryPoint)] = basename(file);
}
writeFileSync(join(dist, "manifest.json"), JSON.stringify(manifest, null, 2) + "\n");
