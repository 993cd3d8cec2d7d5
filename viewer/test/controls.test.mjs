// The controls of the page: the search and its problems, sort orders, narrow windows, help and About.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, boxOf, column, rowsOf, until, view } from './support/browser.mjs';
import { session, shop, timed } from './support/sessions.mjs';

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

const openShop = (fragment = '', options = {}) =>
    browser.open(browser.write('shop', [shop()]), { fragment, ...options });

test('tables are sorted by a column that they show, whatever the measure and the chosen columns', async () => {
    const page = await openShop('#view=functions&by=elapsed&unit=ns');
    const sorted = (label, key) =>
        page.waitForSelector(`[aria-label="${label}"] .head[data-key=${key}][aria-sort=descending] .arrow`);
    for (const [name, title] of [
        ['cpu', 'CPU'],
        ['blocked', 'Blocked'],
        ['elapsed', 'Elapsed'],
    ]) {
        await page.click(`.measures button:has-text("${title}")`);
        await view(page, 'functions');
        await sorted('functions', `${name}_exclusive`);
        const values = column(await rowsOf(page, 'functions'), `${name}_exclusive`).map(Number);
        assert.deepEqual(
            values,
            values.toSorted((a, b) => b - a),
            name,
        );
        await view(page, 'tree');
        await sorted('Call tree', `${name}_inclusive`);
        await view(page, 'callers');
        await sorted('Callers', `${name}_inclusive`);
    }
    await browser.done(page);
    const chosen = await openShop('#view=functions&by=cpu&columns=functions:module,calls&sort=functions:gone-');
    await chosen.waitForSelector('.head[data-key=cpu_exclusive][aria-sort=descending]');
    assert.equal(await chosen.locator('.head[data-key=elapsed_inclusive]').count(), 0);
    await chosen.click('.columns-button');
    assert.equal(await chosen.isDisabled('.menu label:has-text("CPU (µs) exclusive") input'), true);
    await browser.done(chosen);
});

// A thread that sleeps for 90 s and works for half a second.
test('each column has one unit that its longest time reads well in, and short times keep three digits', async () => {
    const wide = 'cpu_inclusive,cpu_exclusive,elapsed_inclusive,elapsed_exclusive,application_exclusive,max';
    const tree = [
        [
            'main',
            1,
            5_000_000,
            0,
            0,
            [
                ['doze', 9, 90_000_000_000, 90_000_000_000, 90_000_000_000],
                ['work', 1000, 462_758_001, 0, 0],
                ['tick', 3, 16, 0, 0],
            ],
        ],
    ];
    const open = (fragment) =>
        browser.open(browser.write('units', [session(tree)]), {
            fragment: `#view=functions&by=cpu&columns=functions:${wide}${fragment}`,
        });
    const page = await open('');
    assert.deepEqual(column(await rowsOf(page, 'functions'), 'cpu_exclusive'), [
        '462.758',
        '5.000',
        '0.000016',
        '0.000',
    ]);
    assert.deepEqual(column(await rowsOf(page, 'functions'), 'elapsed_exclusive').slice(0, 3), [
        '0.463',
        '0.00500',
        '0.000000016',
    ]);
    const groups = await page.$$eval('.group', (all) => all.map((e) => e.textContent).filter(Boolean));
    assert.deepEqual(groups.slice(0, 3), ['CPU (ms)', 'Elapsed (s)', 'Application (ms)']);
    await page.waitForSelector('.head[data-key=max]:has-text("Max (s)")');
    await browser.done(page);
    const fixed = await open('&unit=us');
    assert.deepEqual(column(await rowsOf(fixed, 'functions'), 'cpu_exclusive').at(-2), '0.016');
    await fixed.waitForSelector('.group:has-text("CPU (µs)")');
    await browser.done(fixed);
});

test('a search that cannot be used says why, beside the field', async () => {
    const page = await openShop('#view=functions&by=elapsed');
    const all = (await rowsOf(page, 'functions')).length;
    for (const [typed, expected] of [
        ['/(a|/', /^not a valid regular expression: unterminated group$/],
        ['calls>many', /^calls>many: a number must follow, as in calls>1000$/],
        ['caals>5', /^caals>5: this table has no column of numbers with the key caals$/],
        ['name=5', /^name=5: this table has no column of numbers with the key name$/],
        ['calls>5ms', /^calls>5ms: calls is not a time$/],
    ]) {
        await page.fill('.search', typed);
        assert.match(await page.textContent('.search-problem[role=alert]'), expected);
        assert.equal(await page.getAttribute('.search', 'aria-invalid'), 'true');
        // It filters nothing.
        assert.equal((await rowsOf(page, 'functions')).length, all, typed);
    }
    const [field, problem] = await Promise.all(['.search', '.search-problem'].map((s) => boxOf(page, s)));
    assert.ok(Math.abs(problem.y - field.y - field.height) < 12 && problem.x < field.x + field.width);
    for (const fine of ['calls>100', 'operator<', 'std::vector<int>', '/wal+k/', 'elapsed_exclusive>5%']) {
        await page.fill('.search', fine);
        await page.waitForSelector('.search-problem', { state: 'detached' });
    }
    await page.fill('.search', 'calls>100');
    await page.click('.tabs [data-view=tree]');
    assert.match(await page.textContent('.search-problem'), /^calls>100: conditions filter the tables only$/);
    await browser.done(page);
});

test('conditions filter callers and callees, too', async () => {
    const page = await openShop('#view=functions&by=elapsed&unit=ns');
    await page.click('.row:has-text("lookup")');
    await page.keyboard.press('Enter');
    await until(page, 'Callers', 'name', ['handle', 'render']);
    await page.fill('.search', 'calls>100');
    await until(page, 'Callers', 'name', ['handle']);
    await browser.done(page);
});

// All controls of the page must lie in the window, or where the page scrolls to.
async function assertReachable(page, what) {
    const hidden = await page.$$eval(
        'header button, header input, header select, .tabs button, .view button:not(.twist), .view select, .view .head',
        (all) =>
            all
                .filter((e) => !e.closest('.grid'))
                .map((e) => [e.textContent || e.className, e.getBoundingClientRect()])
                .filter(([, r]) => r.width === 0 || r.left < 0 || r.right > window.innerWidth + 1)
                .map(([name]) => name),
    );
    assert.deepEqual(hidden, [], what);
    const clipped = await page.$$eval(
        '.bar, .top, .tabs, .measures',
        (all) =>
            all.filter((e) => getComputedStyle(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1).length,
    );
    assert.equal(clipped, 0, what);
}

for (const width of [400, 800])
    test(`in a window of ${width} pixels every control is reachable, and numbers are visible`, async () => {
        const file = browser.write('narrow', [timed()]);
        const page = await browser.open(file, { viewport: { width, height: 800 }, fragment: '#view=tree' });
        await page.click('.more-button');
        await assertReachable(page, `the menu at ${width}`);
        const names = await page.$$eval('.tabs [data-view]', (all) => all.map((e) => e.dataset.view));
        assert.equal(names.length, 18);
        await page.keyboard.press('Escape');
        for (const name of names) {
            await view(page, name);
            await assertReachable(page, `${name} at ${width}`);
        }
        for (const name of ['tree', 'functions']) {
            await view(page, name);
            await page.click('.view .row >> nth=1');
            const details = await boxOf(page, '.details');
            const grid = await boxOf(page, '.view .grid');
            // The details are below the table, which has the window's whole width.
            assert.ok(details.y >= grid.y + grid.height - 1 && grid.width > width - 4, name);
            assert.ok(grid.height >= 150, `${name}: ${grid.height}`);
            const name0 = await boxOf(page, '.view .head >> nth=0');
            const number = await boxOf(page, '.view .head.numeric >> nth=1');
            assert.ok(number.x >= name0.x + name0.width - 1 && number.x + number.width <= width, name);
        }
        await page.click('header [aria-label=Help]');
        const help = await boxOf(page, 'dialog');
        assert.ok(help.x >= 0 && help.x + help.width <= width);
        await browser.done(page);
    });

test('the help and About say in words what values and colours mean', async () => {
    const page = await openShop('#view=about');
    const about = await page.innerText('.about');
    for (const words of [
        /The recording has ended\./,
        /Blocked, preempted and CPU times are known\./,
        /trace: every call with its time/,
        /What the values mean/,
        /inclusive: elapsed, with callees; exclusive: elapsed, without callees/,
        /grey: blocked/,
        /hatched: preempted/,
    ])
        assert.match(about, words);
    assert.doesNotMatch(about, /[{}]|undefined|\btrue\b|\bnull\b/);
    await page.keyboard.press('?');
    const help = await page.innerText('dialog');
    for (const words of [/What the values mean/, /CPU/, /What the colours mean/, /yellow: matches of the search/])
        assert.match(help, words);
    await browser.done(page);
});
