// The page for those who use it with keys, a screen reader, or the browser's Back.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { Browser, boxOf, fragmentWith, settled, view } from './support/browser.mjs';
import { shop, timed } from './support/sessions.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const allViews = [
    'summary',
    'tree',
    'flame',
    'timeline',
    'functions',
    'waits',
    'inverted',
    'callers',
    'critical',
    'modules',
    'threads',
    'processes',
    'histogram',
    'why',
    'source',
    'about',
];

async function critical(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    return violations
        .filter((one) => one.impact === 'critical')
        .map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 200)).join(' ')}`);
}

test('axe has no critical finding in any view, and each has one h1', async () => {
    const page = await browser.open(browser.write('axe', [timed()]));
    for (const name of allViews) {
        await view(page, name);
        await page.waitForTimeout(100);
        assert.deepEqual(await critical(page), [], name);
        assert.equal(await page.locator('h1').count(), 1, name);
    }
    await page.click('.more-button');
    await page.waitForSelector('.more-menu');
    assert.deepEqual(await critical(page), [], 'the menu');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    assert.deepEqual(await critical(page), [], 'the help');
    await browser.done(page);
});

test('the focus returns to where it was when the help closes', async () => {
    const page = await browser.open(browser.write('focus', [shop()]), { fragment: '#view=functions' });
    const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    for (const [open, close, where] of [
        [() => page.keyboard.press('?'), () => page.keyboard.press('Escape'), 'functions'],
        [() => page.keyboard.press('?'), () => page.keyboard.press('?'), 'functions'],
        [() => page.keyboard.press('?'), () => page.click('dialog button'), 'functions'],
        [() => page.press('[aria-label=Help]', 'Enter'), () => page.keyboard.press('Escape'), 'Help'],
    ]) {
        await view(page, 'functions');
        await page.focus('[aria-label=functions]');
        await open();
        await page.waitForSelector('dialog[open]');
        await close();
        await page.waitForSelector('dialog', { state: 'detached' });
        assert.equal(await focused(), where);
    }
    await browser.done(page);
});

test('Back undoes a zoom of the timeline, one of the flame graph, and a range', async () => {
    const page = await browser.open(browser.write('back', [timed()]), { fragment: '#view=timeline' });
    const wider = await page.textContent('.range');
    await fragmentWith(page, 'by=');
    await page.keyboard.press('+');
    await fragmentWith(page, 'time=');
    const zoomed = await page.textContent('.range');
    assert.notEqual(zoomed, wider);
    await page.waitForTimeout(1200); // a later zoom is another step
    await page.keyboard.press('+');
    await page.waitForFunction((t) => document.querySelector('.range').textContent !== t, zoomed);
    await settled(page);
    await page.goBack();
    await page.waitForFunction((t) => document.querySelector('.range').textContent === t, zoomed);
    await page.goBack();
    await page.waitForFunction((t) => document.querySelector('.range').textContent === t, wider);
    await view(page, 'flame');
    await fragmentWith(page, 'view=flame');
    await page.waitForSelector('.scroller[data-frames="7"]');
    await page.waitForTimeout(1200);
    const box = await boxOf(page, '.scroller');
    await page.mouse.click(box.x + 100, box.y + box.height - 40);
    await fragmentWith(page, 'zoom=');
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes('zoom='));
    await browser.done(page);
});

test('the details show the values of a path once if it is all of its function', async () => {
    const page = await browser.open(browser.write('once', [shop()]), { fragment: '#view=tree&by=elapsed' });
    const titles = () => page.$$eval('.details h3', (all) => all.map((e) => e.textContent));
    await page.click('.row:has-text("load")');
    await page.waitForFunction(() => document.querySelector('.whole-name').textContent === 'load');
    assert.deepEqual(await titles(), ['This path, all of the function', 'Call path']);
    await page.click('.row:has-text("lookup")');
    await page.waitForFunction(() => document.querySelector('.whole-name').textContent === 'lookup');
    assert.deepEqual(await titles(), ['This path', 'All paths of the function', 'Call path']);
    await browser.done(page);
});

test('nothing of the controls is cut off at 1440 pixels', async () => {
    const page = await browser.open(browser.write('uncut', [timed()]), { viewport: { width: 1440, height: 900 } });
    for (const name of allViews) {
        await view(page, name);
        const cut = await page.$$eval('.bar, .bar > *, .top, .measures, .tabs, .below', (all) =>
            all
                .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
                .map((e) => e.textContent),
        );
        assert.deepEqual(cut, [], name);
    }
    await browser.done(page);
});
