// The heat map: where its cells are, what they say, and how they lead to the timeline.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, boxOf, colourAt } from './support/browser.mjs';
import { rhythmic, timed } from './support/sessions.mjs';

let browser;
let file;
before(async () => {
    browser = await Browser.start();
    file = browser.write('rhythmic', [rhythmic()]);
});
after(() => browser.stop());

const open = (fragment = '') =>
    browser.open(file, { fragment: `#view=heat${fragment}`, viewport: { width: 1440, height: 900 } });
// Columns of 24 pixels, of 50 cells of 12 pixels.
const middleOf = (column, row) => [80 + 24 * column + 12, 8 + 12 * row + 6];

async function tipAt(page, column, row, pattern) {
    const box = await boxOf(page, '.heat-map');
    const [x, y] = middleOf(column, row);
    let text = '';
    for (let tries = 0; tries < 1200 && !pattern.test(text); tries++) {
        await page.mouse.move(box.x + x, box.y + y + 1);
        await page.mouse.move(box.x + x, box.y + y);
        await page.waitForTimeout(50);
        const tip = page.locator('.tip');
        text = (await tip.count()) ? (await tip.innerText()).trim() : '';
    }
    assert.match(text, pattern);
}

async function colourOf(page, column, row, expected) {
    const [x, y] = middleOf(column, row);
    let colour;
    for (let tries = 0; tries < 1200 && (colour = await colourAt(page, x, y)) !== expected; tries++)
        await page.waitForTimeout(50);
    assert.equal(colour, expected);
}

test('each cell has the times of all threads, by the chosen kind', async () => {
    const page = await open();
    await tipAt(page, 0, 5, /^100\.0 ms … 120\.0 ms: 100\.0 % CPU, 0\.0 % blocked$/);
    await tipAt(page, 1, 5, /^1\.100 s … 1\.120 s: 200\.0 % CPU, 0\.0 % blocked$/);
    await tipAt(page, 2, 49, /^2\.980 s … 3\.000 s: 0\.0 % CPU, 50\.0 % blocked$/);
    await page.mouse.move(0, 0);
    await colourOf(page, 1, 5, '168,67,11'); // the hottest cell
    await colourOf(page, 0, 6, '244,245,247'); // nothing
    await page.selectOption('.heat-map ~ .bar select', 'blocked');
    await colourOf(page, 2, 49, '168,67,11');
    await colourOf(page, 1, 5, '244,245,247');
    await page.waitForFunction(() => location.hash.includes('heat=blocked'));
    assert.match(await page.textContent('.below .range'), /^a column is 1\.000 s, a cell 20\.00 ms$/);
    await browser.done(page);
});

const timeOf = (page) => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('time'));

test('a click and a drag show the time on the timeline, and Back returns', async () => {
    const page = await open();
    const box = await boxOf(page, '.heat-map');
    const at = ([x, y]) => [box.x + x, box.y + y];
    await tipAt(page, 1, 5, /CPU/);
    await page.mouse.click(...at(middleOf(1, 5)));
    await page.waitForFunction(() => location.hash.includes('view=timeline'));
    assert.equal(await timeOf(page), '1100000000-1120000000');
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes('view=heat'));
    await tipAt(page, 2, 1, /CPU/);
    await page.mouse.move(...at(middleOf(2, 1)));
    await page.mouse.down();
    await page.mouse.move(...at(middleOf(1, 48)), { steps: 3 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes('view=timeline'));
    assert.equal(await timeOf(page), '1960000000-2040000000');
    await browser.done(page);
});

test('keys choose a cell', async () => {
    const page = await open();
    await page.locator('.heat-map').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(key);
    await page.waitForFunction(() => /^1\.020 s/.test(document.querySelector('.below .range').textContent));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('view=timeline'));
    assert.equal(await timeOf(page), '1020000000-1040000000');
    await browser.done(page);
});

test('a short run says why it has no map', async () => {
    const page = await browser.open(browser.write('short', [timed()]), { fragment: '#view=heat' });
    assert.match(await page.textContent('main'), /^This run is shorter than two seconds/);
    await browser.done(page);
});
