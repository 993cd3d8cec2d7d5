// Makes the pictures of docs/view.md and docs/first-screens.md: node test/screenshots.mjs PAGES FOLDER. The folder PAGES
// has one.html and two.html, of one and two recordings of the program of scripts/demo, and the pages of the programs of
// docs/first-screens.md: redis.html, zstd.html, leveldb.html, sqlite.html and server.html. waits.html is of a program
// whose three threads wait for one mutex, and heat.html of half a minute of a program that works in a rhythm. values.html
// is of one that sorts numbers in three orders, with the size and the order as values. Pictures of pages that are missing
// stay as they are.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, boxOf, view } from './support/browser.mjs';

const [pages, folder] = process.argv.slice(2);
const programs = ['redis', 'zstd', 'leveldb', 'sqlite', 'server'];
const [one, two] = ['one', 'two'].map((name) => join(pages, `${name}.html`));
const browser = await Browser.start();

async function picture(name, file, fragment, options = {}, act = async () => {}) {
    if (!existsSync(file)) return;
    const page = await browser.open(file, {
        fragment,
        viewport: { width: 1180, height: 640 },
        ...options,
    });
    await page.waitForTimeout(400);
    await act(page);
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await browser.done(page);
}

await picture('view-tree', one, '#view=tree', {}, async (page) => {
    for (const key of ['Home', 'End', 'Home', '*']) await page.keyboard.press(key);
    for (let i = 0; i < 9; i++) await page.keyboard.press('ArrowDown');
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 0));
});
for (const width of [800, 1440])
    await picture(`view-first-${width}`, one, '#view=summary', {
        viewport: { width, height: width === 800 ? 760 : 700 },
    });
for (const program of programs)
    for (const width of [800, 1440])
        await picture(`first-${program}-${width}`, join(pages, `${program}.html`), '#view=summary', {
            viewport: { width, height: 700 },
        });
await picture('view-focus', one, '#view=functions', {}, async (page) => {
    await page.fill('.search', 'stbi__parse_entropy_coded_data');
    await page.click('[aria-label=functions] .row');
    await page.fill('.search', '');
    await page.keyboard.press('Escape');
    await page.keyboard.press('F');
    await page.waitForSelector('.chip');
    await view(page, 'flame');
});
await picture('view-flame', one, '#view=flame&details=0', {}, async (page) => {
    const box = await boxOf(page, '.scroller');
    await page.mouse.move(box.x + 200, box.y + box.height - 110);
});
await picture('view-inverted', one, '#view=inverted&by=cpu&details=0', { colorScheme: 'dark' });
await picture('view-callers', one, '#view=functions', {}, async (page) => {
    await page.fill('.search', 'stbi__grow_buffer_unsafe');
    await page.click('[aria-label=functions] .row');
    await page.keyboard.press('Enter');
    await page.fill('.search', '');
});
await picture('view-functions', one, '#view=functions', { colorScheme: 'dark' }, (page) =>
    page.click('[aria-label=functions] .row >> nth=1'),
);
await picture('view-threads', one, '#view=threads');
await picture('view-timeline', one, '#view=timeline&details=0');
await picture('view-timeline-menu', one, '#view=timeline&details=0', {}, (page) => page.keyboard.press('l'));
await picture('view-compared', two, '#view=functions');
await picture('view-compared-flame', two, '#view=flame&details=0');
await picture('view-help', one, '#view=tree', {}, async (page) => {
    await view(page, 'tree');
    await page.keyboard.press('?');
});
const waits = join(pages, 'waits.html');
await picture('view-waits', waits, '#view=waits', {}, (page) => page.keyboard.press('Home'));
await picture('view-waits-graph', waits, '#view=waits&waits=graph');
await picture('view-arrows', waits, '#view=timeline&details=0', {}, (page) => page.keyboard.press('n'));
await picture('view-heat', join(pages, 'heat.html'), '#view=heat');
await picture('view-values', join(pages, 'values.html'), '#view=recorded', {}, async (page) => {
    await page.click('.explained a');
    await page.waitForSelector('.choices');
    await page.selectOption('.choices label:last-child select', { index: 1 });
});
await browser.stop();
