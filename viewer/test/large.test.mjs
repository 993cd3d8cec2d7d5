// A page of a million call paths opens fast and stays responsive. The time limits apply to the main thread's work, as
// elapsed times depend on the machine's load.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, view } from './support/browser.mjs';
import { large } from './support/sessions.mjs';

const paths = 1000000;
const openLimit = 10000; // ms; some hundreds on a fast machine, 3500 on a slow and busy one, minutes if it is quadratic
const taskLimit = 100; // ms, while it is scrolled
const openingLimit = 500; // ms, while a view is opened; some tens on an idle machine

let browser;
let page;
let opened;
let work;
before(async () => {
    browser = await Browser.start();
    const file = browser.write('large', [large(paths)]);
    // The browser's first page includes the browser's own start.
    await browser.done(await browser.open(browser.write('first', [large(100)])));
    const began = performance.now();
    page = await browser.open(file);
    await page.waitForSelector('.row');
    opened = performance.now() - began;
    work = await browser.processorTime(page);
});
after(() => browser.stop());

// The longest task while `act` runs, in milliseconds. Above the limit, it tries again: others may have the processors.
async function longest(act, limit) {
    let least = Infinity;
    let tries = 0;
    do {
        await page.evaluate(() => (window.longTasks.length = 0));
        await act();
        await page.waitForTimeout(120);
        least = Math.min(
            least,
            Math.max(0, ...(await page.evaluate(() => window.longTasks.map(([, duration]) => duration)))),
        );
    } while (least > limit && ++tries < 3);
    return least;
}

test('the page opens in time', async (t) => {
    t.diagnostic(`${paths} call paths: open in ${Math.round(opened)} ms, ${Math.round(work)} ms of the main thread`);
    assert.match(await page.textContent('.below'), /1,000,000 call paths/);
    assert.ok(Math.min(opened, work) < openLimit, `${opened} ms`);
});

test('the whole tree is opened and scrolled without a long task', async (t) => {
    await view(page, 'tree');
    await page.keyboard.press('_');
    await page.waitForFunction(() => document.querySelectorAll('.row').length < 5);
    const opening = await longest(async () => {
        await page.keyboard.press('_');
        await page.waitForFunction(() => document.querySelectorAll('.row').length < 5);
        await page.keyboard.press('Home');
        await page.keyboard.press('*');
        await page.waitForFunction(
            () => /1,000,000 shown/.test(document.querySelector('.below').textContent),
            undefined,
            { timeout: 120000 },
        );
    }, Infinity);
    const scrolling = await longest(
        () =>
            page.locator('.grid').evaluate(async (grid) => {
                const frame = () => new Promise(requestAnimationFrame);
                for (let i = 0; i < 60; i++) {
                    grid.scrollTop += i % 20 === 19 ? grid.scrollHeight / 4 : 700;
                    await frame();
                }
            }),
        taskLimit,
    );
    t.diagnostic(`longest task while the whole tree is opened: ${opening} ms, while it is scrolled: ${scrolling} ms`);
    assert.ok(scrolling <= taskLimit, `${scrolling} ms`);
});

test('tables and graphs stay responsive', async (t) => {
    for (const name of ['functions', 'flame', 'inverted', 'callers']) {
        const took = await longest(async () => {
            await view(page, 'about');
            await view(page, name);
            await page.waitForTimeout(300);
            for (let i = 0; i < 10; i++) {
                await page.mouse.move(200 + 50 * i, 300);
                await page.mouse.wheel(0, 400);
            }
        }, openingLimit);
        t.diagnostic(`longest task in ${name}: ${took} ms`);
        assert.ok(took <= openingLimit, `${name}: ${took} ms`);
    }
});

test('the page logged no errors', () => browser.done(page));
