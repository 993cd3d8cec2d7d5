/* global navigator */
// Transforms of the call tree, the default measure, copied tables and saved pictures.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Browser, column, fragmentWith, rowsOf, until, view } from './support/browser.mjs';
import { session, shop, shopTree, timed } from './support/sessions.mjs';

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const openShop = (fragment, options = {}) =>
    browser.open(browser.write('shop', [shop()]), { fragment: `#unit=ns&${fragment}`, ...options });
const chips = (page) => page.$$eval('.chip', (all) => all.map((e) => e.getAttribute('aria-label')));
const openAll = async (page) => {
    await view(page, 'tree');
    await page.click('button:has-text("Open all")');
};

test('the page opens by CPU time where that is known, and waiting rows are dim', async () => {
    const page = await openShop('view=functions');
    assert.equal(await page.textContent('.measures [aria-checked=true]'), 'CPU');
    await page.waitForSelector('.head[data-key=cpu_exclusive][aria-sort=descending]');
    const rows = await rowsOf(page, 'functions');
    assert.equal(rows[0].name, 'parse'); // 9200; lookup has 9195
    assert.deepEqual(
        rows.filter((r) => r.class.includes('waits')).map((r) => r.name),
        ['wait_for_work'],
    );
    assert.equal(rows.find((r) => r.name === 'wait_for_work').blocked_exclusive, '19000');
    await view(page, 'flame');
    assert.match(await page.textContent('.hint'), /width: CPU inclusive/);
    await browser.done(page);
    const bare = browser.write('bare', [session(shopTree, { off_cpu: false })]);
    const other = await browser.open(bare, { fragment: '#view=functions' });
    assert.equal(await other.textContent('.measures [aria-checked=true]'), 'Elapsed');
    await browser.done(other);
});

test('focus makes a function the root of the tree, the graphs and the callers', async () => {
    const page = await openShop('view=functions&by=elapsed');
    await page.click('.row:has-text("lookup")');
    await page.click('.details button:has-text("Focus")');
    await page.waitForSelector('.chip');
    assert.deepEqual(await chips(page), ['Remove: Only calls of lookup']);
    await openAll(page);
    await until(page, 'Call tree', 'name', ['▾lookup', '▾walk', '▾walk', 'walk']);
    const rows = await rowsOf(page, 'Call tree');
    // Both paths to lookup: 17500 and 800.
    assert.deepEqual(column(rows, 'elapsed_inclusive'), ['18300', '8700', '4500', '1500']);
    assert.deepEqual(column(rows, 'calls'), ['180', '330', '250', '100']);
    await view(page, 'functions');
    await until(page, 'functions', 'elapsed_exclusive', ['9600', '8700', ...Array(7).fill('0')]);
    await view(page, 'flame');
    await page.waitForSelector('.scroller[data-frames="4"]');
    await view(page, 'inverted');
    await page.waitForSelector('.scroller[data-frames="4"]');
    await view(page, 'callers');
    await until(page, 'Callers', 'name', ['(start of thread)']);
    await until(page, 'Callees', 'name', ['walk']);
    // A link restores it; a click on the chip removes it.
    const link = await fragmentWith(page, 'transform=focus');
    await browser.done(page);
    const again = await openShop(link.slice(1));
    await until(again, 'Callers', 'name', ['(start of thread)']);
    await again.click('.chip');
    await until(again, 'Callers', 'name', ['handle', 'render']);
    assert.equal(await again.locator('.chip').count(), 0);
    await browser.done(again);
});

test('a hidden function gives its time to its caller; collapsed recursion is one row', async () => {
    const page = await openShop('view=functions&by=elapsed');
    await page.click('.row:has-text("handle")');
    await page.keyboard.press('H');
    await page.waitForSelector('.chip');
    await page.keyboard.press('R');
    await page.waitForFunction(() => document.querySelectorAll('.chip').length === 2);
    assert.deepEqual(await chips(page), ['Remove: Hidden: handle', 'Remove: Recursion collapsed']);
    await openAll(page);
    await until(page, 'Call tree', 'name', [
        '▾main',
        '▾serve',
        'wait_for_work',
        '▾lookup',
        'walk',
        'parse',
        '▾render',
        '▾lookup',
        'walk',
        '▾load',
        'parse',
    ]);
    const rows = await rowsOf(page, 'Call tree');
    // serve has its own 2000 and the 3000 of handle. The three calls of walk below each other are one row.
    assert.deepEqual(column(rows, 'elapsed_exclusive').slice(0, 6), ['1000', '5000', '20000', '9000', '8500', '7000']);
    assert.deepEqual(column(rows, 'elapsed_inclusive').slice(0, 5), ['60000', '52800', '20000', '17500', '8500']);
    assert.deepEqual(column(rows, 'calls').slice(0, 5), ['1', '10', '11', '150', '650']);
    await view(page, 'callers');
    await page.fill('.search', '');
    await view(page, 'functions');
    await page.click('.row:has-text("lookup")');
    await page.keyboard.press('Enter');
    await until(page, 'Callers', 'name', ['serve', 'render']);
    await page.click('.chip:has-text("handle")');
    await until(page, 'Callers', 'name', ['handle', 'render']);
    await view(page, 'modules');
    const modules = await rowsOf(page, 'modules');
    assert.deepEqual(column(modules, 'elapsed_exclusive'), ['39900', '20100']);
    await browser.done(page);
});

test('transforms work with two recordings, too', async () => {
    const page = await browser.open(browser.write('two', [shop(), shop({ title: 'new' })]), {
        fragment: '#unit=ns&view=functions&by=elapsed',
    });
    await page.click('.row:has-text("lookup")');
    await page.keyboard.press('F');
    await page.waitForSelector('.chip');
    await openAll(page);
    await until(page, 'Call tree', 'elapsed_inclusive_new', ['18300', '8700', '4500', '1500']);
    await until(page, 'Call tree', 'elapsed_inclusive_change', ['0', '0', '0', '0']);
    await browser.done(page);
});

test('a table is copied as text with tabs, in its order and with its columns', async () => {
    const page = await openShop('view=functions&by=elapsed&columns=functions:calls,elapsed_exclusive,module');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await rowsOf(page, 'functions');
    // The notice goes away after some seconds, so it is awaited from before.
    const copies = async (act, begin) => {
        const noticed = page.waitForSelector('.notice:has-text("Table copied")');
        await act();
        await noticed;
        await page.waitForFunction((text) => navigator.clipboard.readText().then((t) => t.startsWith(text)), begin);
        return page.evaluate(() => navigator.clipboard.readText());
    };
    const table = await copies(() => page.click('.copy-button'), 'Function');
    assert.deepEqual(table.split('\n').slice(0, 4), [
        'Function\tElapsed (ns) exclusive\tCalls\tModule',
        'wait_for_work\t20000\t11\tlibstore.so.2',
        'lookup\t9600\t180\tshop',
        'parse\t9200\t240\tlibstore.so.2',
    ]);
    await view(page, 'tree');
    await page.click('button:has-text("Close all")');
    await until(page, 'Call tree', 'name', ['▸main']);
    await page.focus('.grid');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await until(page, 'Call tree', 'name', ['▾main', '▸serve', '▸load']);
    const lines = (await copies(() => page.keyboard.press('Y'), 'Call path')).trim().split('\n');
    assert.deepEqual(
        lines.map((line) => line.split('\t')[0]),
        ['Call path', 'main', '  serve', '  load'],
    );
    await browser.done(page);
});

// The width and height in a PNG file's header.
function sizeOf(file) {
    const bytes = readFileSync(file);
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

test('graphs and the timeline are saved as pictures, with what does not fit into the window', async () => {
    const file = browser.write('pictures', [timed()]);
    const size = { width: 700, height: 400 };
    const page = await browser.open(file, { fragment: '#view=flame&by=elapsed&details=0', viewport: size });
    for (const [name, saved, rows] of [
        ['flame', 'flame-graph.png', 7],
        ['inverted', 'inverted-graph.png', 7],
    ]) {
        await view(page, name);
        await page.waitForSelector(`.scroller[data-frames="${rows}"]`);
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('.save-button')]);
        assert.equal(download.suggestedFilename(), saved);
        assert.deepEqual(sizeOf(await download.path()), [1400, 2 * (22 + rows * 20)]);
    }
    await view(page, 'timeline');
    await page.waitForTimeout(200);
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Y')]);
    assert.equal(download.suggestedFilename(), 'timeline.png');
    // The ruler, the marks, and the lanes of 3 rows and 1 row.
    assert.deepEqual(sizeOf(await download.path()), [1400, 2 * (22 + 26 + 18 + 2 * (20 + 17 + 9 + 8) + 4 * 17)]);
    await browser.done(page);
});
