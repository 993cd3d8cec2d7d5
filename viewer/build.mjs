// Builds dist/page.html, one file with its scripts and styles. The same sources and package-lock.json produce the same
// bytes.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const target = ['chrome110', 'firefox115', 'safari16.4'];

async function bundle(entry, options = {}) {
    const result = await build({
        absWorkingDir: here,
        entryPoints: [entry],
        bundle: true,
        minify: true,
        write: false,
        target,
        format: 'iife',
        charset: 'ascii',
        legalComments: 'none',
        logLevel: 'warning',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        ...options,
    });
    return result.outputFiles[0].text.trim();
}

// A page from disk cannot load other files. So the worker starts from a blob, and its script is embedded as text.
const workerAsText = {
    name: 'worker',
    setup(b) {
        b.onResolve({ filter: /^worker:/ }, (a) => ({ path: a.path.slice('worker:'.length), namespace: 'worker' }));
        b.onLoad({ filter: /.*/, namespace: 'worker' }, async (a) => ({
            contents: await bundle(a.path),
            loader: 'text',
        }));
    },
};

// "</script" in a text would end the page's script.
const script = (await bundle('src/main.tsx', { plugins: [workerAsText] })).replaceAll('</script', '<\\/script');
const style = await bundle('src/style.css', { format: undefined });
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const page = (await readFile(new URL('src/page.html', import.meta.url), 'utf8'))
    .replace('SCRIPT_HASH', () => hash(script))
    .replace('/*STYLE*/', () => style)
    .replace('/*SCRIPT*/', () => script);

await mkdir(new URL('dist/', import.meta.url), { recursive: true });
await writeFile(new URL('dist/page.html', import.meta.url), page);
console.log(`dist/page.html: ${Math.round(page.length / 1024)} KB`);
