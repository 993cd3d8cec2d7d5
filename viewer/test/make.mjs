// Writes pages of made-up sessions to test/out, for a look in a browser.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pageWith } from './support/container.mjs';
import { hostile, large, shop } from './support/sessions.mjs';

const here = new URL('.', import.meta.url);
const template = readFileSync(new URL('../dist/page.html', here), 'utf8');
mkdirSync(new URL('out/', here), { recursive: true });
const made = {
    shop: () => [shop()],
    hostile: () => [hostile()],
    large: () => [large(Number(process.argv[3]) || 1000000)],
};
for (const [name, make] of Object.entries(made))
    if (!process.argv[2] || process.argv[2] === name)
        writeFileSync(new URL(`out/${name}.html`, here), pageWith(template, make()));
