// Makes the pictures of docs/view.md: node test/screenshots.mjs PAGE PAGE-OF-TWO SERVER-PAGE FOLDER. The first two pages
// show recordings of the program of scripts/demo, which has the function that is picked for the view of callers. The third
// one shows a recording of a server that mostly waits, such as redis under its benchmark.
import { join } from 'node:path';
import { Browser, view } from './support/browser.mjs';

const [one, two, server, folder] = process.argv.slice(2);
const browser = await Browser.start();

async function picture(name, file, fragment, options = {}, act = async () => {}) {
    const unit = file === server ? 'us' : 'ms';
    const page = await browser.open(file, {
        fragment: `${fragment || '#'}&unit=${unit}`,
        viewport: { width: 1180, height: 640 },
        ...options,
    });
    await page.waitForTimeout(400);
    await act(page);
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(folder, `view-${name}.png`) });
    await browser.done(page);
}

await picture('tree', one, '#view=tree', {}, async (page) => {
    for (const key of ['Home', 'End', 'Home', '*']) await page.keyboard.press(key);
    for (let i = 0; i < 9; i++) await page.keyboard.press('ArrowDown');
    await page.locator('.grid').evaluate((grid) => (grid.scrollTop = 0));
});
for (const width of [800, 1440])
    await picture(`first-${width}`, one, '', { viewport: { width, height: width === 800 ? 760 : 700 } });
await picture('server', server, '#view=functions&details=0', { viewport: { width: 1440, height: 420 } });
await picture('focus', one, '#view=functions', {}, async (page) => {
    await page.fill('.search', 'stbi__parse_entropy_coded_data');
    await page.click('[aria-label=functions] .row');
    await page.fill('.search', '');
    await page.keyboard.press('Escape');
    await page.keyboard.press('F');
    await page.waitForSelector('.chip');
    await view(page, 'flame');
});
await picture('flame', one, '#view=flame&details=0', {}, async (page) => {
    const box = await page.locator('.scroller').boundingBox();
    await page.mouse.move(box.x + 200, box.y + box.height - 110);
});
await picture('inverted', one, '#view=inverted&by=cpu&details=0', { colorScheme: 'dark' });
await picture('callers', one, '#view=functions', {}, async (page) => {
    await page.fill('.search', 'stbi__grow_buffer_unsafe');
    await page.click('[aria-label=functions] .row');
    await page.keyboard.press('Enter');
    await page.fill('.search', '');
});
await picture('functions', one, '#view=functions', { colorScheme: 'dark' }, (page) =>
    page.click('[aria-label=functions] .row >> nth=1'),
);
await picture('threads', one, '#view=threads');
await picture('timeline', one, '#view=timeline&details=0');
await picture('timeline-menu', one, '#view=timeline&details=0', {}, (page) => page.keyboard.press('l'));
await picture('compared', two, '#view=functions');
await picture('compared-flame', two, '#view=flame&details=0');
await picture('help', one, '#view=tree', {}, async (page) => {
    await view(page, 'tree');
    await page.keyboard.press('?');
});
await browser.stop();
