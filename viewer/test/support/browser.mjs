// Debian's chromium, driven by playwright. A page fails its test if it logs an error or requests anything but itself.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { pageWith } from './container.mjs';

export const template = readFileSync(new URL('../../dist/page.html', import.meta.url), 'utf8');

export class Browser {
    static async start() {
        const one = new Browser();
        one.folder = mkdtempSync(join(tmpdir(), 'dwell-viewer-'));
        one.browser = await chromium.launch({
            executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
            args: [
                '--no-sandbox',
                '--disable-gpu',
                '--disable-background-networking',
                '--disable-component-update',
                '--no-first-run',
            ],
        });
        return one;
    }

    async stop() {
        await this.browser.close();
        rmSync(this.folder, { recursive: true, force: true });
    }

    // Opens a page made of the tests' own sessions, or the page at a path. It shows the call tree, unless the fragment
    // names a view: `#view=` shows what the page opens with.
    write(name, sessions) {
        const file = join(this.folder, `${name}.html`);
        writeFileSync(file, pageWith(template, sessions));
        return file;
    }

    async open(file, options = {}) {
        const { fragment: given = '', ...context } = options;
        const fragment = given.includes('view=') ? given : `${given || '#'}&view=tree`;
        const page = await this.browser.newPage({ viewport: { width: 1400, height: 800 }, ...context });
        page.setDefaultTimeout(120000);
        page.problems = [];
        page.requests = [];
        // The tests read pixels from the canvas.
        page.on(
            'console',
            (m) =>
                ['error', 'warning'].includes(m.type()) &&
                !m.text().includes('willReadFrequently') &&
                page.problems.push(m.text()),
        );
        page.on('pageerror', (e) => page.problems.push(e.stack ?? String(e)));
        page.on('dialog', (d) => {
            page.problems.push(`dialog: ${d.message()}`);
            d.dismiss();
        });
        page.on('request', (r) => page.requests.push(r.url()));
        await page.addInitScript(() => {
            window.longTasks = [];
            new PerformanceObserver((list) => {
                for (const entry of list.getEntries())
                    window.longTasks.push([Math.round(entry.startTime), Math.round(entry.duration)]);
            }).observe({ entryTypes: ['longtask'] });
        });
        page.meter = await page.context().newCDPSession(page);
        await page.meter.send('Performance.enable', { timeDomain: 'threadTicks' });
        const url = file.startsWith('http') ? file : pathToFileURL(file).href;
        await page.goto(url + fragment);
        await page.waitForSelector('.tabs, .failure', { timeout: 120000 });
        return page;
    }

    // CPU time of the page's tasks so far, in milliseconds.
    async processorTime(page) {
        const { metrics } = await page.meter.send('Performance.getMetrics');
        return metrics.find((m) => m.name === 'TaskDuration').value * 1000;
    }

    // Closes the page and fails on errors that it logged.
    async done(page) {
        const allowed = (url) =>
            url === page.url().replace(/[#?].*/, '') ||
            url.startsWith('blob:') ||
            url.startsWith('data:') ||
            url.startsWith('http://127.0.0.1:');
        const strangers = page.requests.filter((url) => !allowed(url.replace(/[#?].*/, '')));
        await page.close();
        assert.deepEqual(page.problems, []);
        assert.deepEqual(strangers, []);
    }
}

// Returns when the view has the focus, so that keys reach it.
export async function view(page, name) {
    if (!(await page.locator(`.tabs [data-view=${name}]`).count())) await page.click('.more-button');
    await page.click(`.tabs [data-view=${name}]`);
    await page.waitForFunction(
        (n) =>
            document.querySelector(`[data-view=${n}][aria-selected=true]`) &&
            (document.activeElement.closest('.view') || document.querySelector('.view > .wait')),
        name,
    );
}

// Returns an element's place once it is shown. A dialog is in the document before it opens, and has no place then.
export async function boxOf(page, selector) {
    await page.locator(selector).waitFor();
    return page.locator(selector).boundingBox();
}

// Reads the visible rows of a table. rowsOf scrolls to read all. Spaces between digits are removed.
const inSight = (page, label) =>
    page.$$eval(`[aria-label="${label}"] .row`, (rows) =>
        rows.map((row) => ({
            place: Number(row.getAttribute('aria-rowindex')) - 2,
            level: Number(row.getAttribute('aria-level')),
            class: row.className,
            ...Object.fromEntries(
                [...row.querySelectorAll('.cell')].map((c) => [
                    c.dataset.key,
                    c.textContent.replace(/\u2009/g, '').trim(),
                ]),
            ),
        })),
    );

export async function rowsOf(page, label) {
    const grid = page.locator(`[aria-label="${label}"]`);
    await page.waitForFunction(
        (l) => document.querySelector(`[aria-label="${l}"] .row, [aria-label="${l}"] .nothing`),
        label,
    );
    const rows = new Map();
    let before = -1;
    await grid.evaluate((e) => (e.scrollTop = 0));
    for (;;) {
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20))));
        for (const row of await inSight(page, label)) rows.set(row.place, row);
        const at = await grid.evaluate((e) => e.scrollTop);
        if (at === before) break;
        before = at;
        await grid.evaluate((e) => (e.scrollTop += e.clientHeight - 100));
    }
    return [...rows.values()].sort((a, b) => a.place - b.place);
}

export const column = (rows, key) => rows.map((row) => row[key]);

// Retries, as a table's rows are drawn one frame after they are computed.
export async function until(page, label, key, expected) {
    let got;
    for (let i = 0; i < 1200; i++) {
        got = column(await rowsOf(page, label), key);
        if (JSON.stringify(got) === JSON.stringify(expected)) return;
        await page.waitForTimeout(50);
    }
    assert.deepEqual(got, expected);
}

export const colourAt = (page, x, y) =>
    page.locator('.view canvas').evaluate(
        (canvas, [x, y]) => {
            const scale = canvas.width / canvas.clientWidth;
            const [r, g, b] = canvas
                .getContext('2d')
                .getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data;
            return `${r},${g},${b}`;
        },
        [x, y],
    );

// Returns when the fragment and the history have all that was done before: the page's own timer for that is due earlier.
export const settled = (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 200)));

export const fragmentWith = async (page, text) => {
    await page.waitForFunction((t) => location.hash.includes(t), text);
    await settled(page);
    return page.evaluate(() => location.hash);
};

// Retries, as a graph is drawn one frame after a change. The browser reports no move to the point where the mouse is.
export async function frameAt(page, x, y, expected) {
    const name = page.locator('.tip-name');
    let got;
    for (let i = 0; i < 1200; i++) {
        await page.mouse.move(x, y + 1);
        await page.mouse.move(x, y);
        got = (await name.allTextContents())[0] ?? '';
        if (got === expected) return;
        await page.waitForTimeout(50);
    }
    assert.equal(got, expected);
}
