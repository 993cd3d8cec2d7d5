// Tests the page on made-up sessions with known values.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, boxOf, column, fragmentWith, frameAt, rowsOf, settled, until, view } from './support/browser.mjs';
import { hostile, hostileNames, shop, shopTree, session } from './support/sessions.mjs';

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

// By elapsed time, unless the link names another measure.
const openShop = (fragment = '', options = {}) =>
    browser.open(browser.write('shop', [shop()]), {
        fragment: fragment.includes('by=') ? fragment : `#by=elapsed&${fragment.slice(1)}`,
        ...options,
    });
const press = async (page, ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
};
test('loads from a file, shows remarks, and requests nothing else', async () => {
    const page = await openShop();
    assert.equal(await page.textContent('.title'), 'shop --serve 60.00 µs');
    assert.equal(await page.textContent('.remarks li'), '12 events were lost on thread shop');
    assert.equal(await page.title(), 'shop --serve – dwell');
    await browser.done(page);
});

test('the call tree opens at its hot path, with the true values of each path', async () => {
    const page = await openShop('#unit=ns', {});
    await until(page, 'Call tree', 'name', [
        '▾main',
        '▾serve',
        '▾handle',
        'parse',
        '▸lookup',
        '▸render',
        'wait_for_work',
        '▸load',
    ]);
    const rows = await rowsOf(page, 'Call tree');
    assert.deepEqual(column(rows, 'elapsed_inclusive'), [
        '60000',
        '52800',
        '30800',
        '7000',
        '17500',
        '3300',
        '20000',
        '6200',
    ]);
    assert.deepEqual(column(rows, 'elapsed_exclusive'), [
        '1000',
        '2000',
        '3000',
        '7000',
        '9000',
        '2500',
        '20000',
        '4000',
    ]);
    assert.deepEqual(column(rows, 'application_inclusive'), [
        '37700',
        '31300',
        '29300',
        '7000',
        '17000',
        '3300',
        '0',
        '5400',
    ]);
    assert.deepEqual(column(rows, 'elapsed_inclusive_percent')[1], '88.0 %');
    assert.deepEqual(
        rows.filter((r) => r.class.includes('hot')).map((r) => r.name),
        ['▾main', '▾serve', '▾handle', '▸lookup'],
    );
    assert.deepEqual(
        rows.filter((r) => r.class.includes('waits')).map((r) => r.name),
        ['wait_for_work'],
    );
    await browser.done(page);
});

test('without a hot root, the call tree opens at the largest root', async () => {
    const tree = ['one', 'two', 'three'].map((name, i) => [
        name,
        1,
        10,
        0,
        0,
        [[`${name}_work`, 1, 500 + 100 * (i % 2), 0, 0, [[`${name}_leaf`, 1, 900, 0, 0]]]],
    ]);
    const page = await browser.open(browser.write('roots', [session(tree)]), { fragment: '#by=elapsed' });
    await until(page, 'Call tree', 'name', ['▸one', '▾two', '▾two_work', 'two_leaf', '▸three']);
    await browser.done(page);
});

test('the details are wide enough for the longest values', async () => {
    const tree = [['main', 123456, 98765432, 45678901, 34567890, [['work', 1234567, 88765432, 35678901, 14567890]]]];
    const file = browser.write('wide', [session(tree)]);
    const page = await browser.open(file, { viewport: { width: 1440, height: 900 } });
    await page.click('.view .row >> nth=1');
    const [inner, outer] = await page.locator('.details').evaluate((e) => [e.scrollWidth, e.clientWidth]);
    assert.ok(inner <= outer, `${inner} of ${outer} pixels`);
    await browser.done(page);
});

test('in an imported report, functions that wait by their names are grey and not the hot path', async () => {
    const page = await browser.open(
        browser.write('imported', [session(shopTree, { off_cpu: false, waits: ['handle'] })]),
        {
            fragment: '#by=elapsed',
        },
    );
    await page.waitForSelector('.row.hot');
    const rows = await rowsOf(page, 'Call tree');
    const named = (mark) => rows.filter((r) => r.class.split(' ').includes(mark)).map((r) => r.name);
    assert.deepEqual(named('hot'), ['▾main', '▾serve', 'wait_for_work']);
    assert.deepEqual(named('waits'), ['▸handle']);
    await browser.done(page);
});

// Waits for a selected row: it is drawn after the rows that a key opens.
const selected = (page, part, text) =>
    page.waitForFunction(([p, t]) => document.querySelector(`.row.selected ${p}`)?.textContent === t, [part, text]);

test('keys open, close and walk the tree; h opens the hot path, * a whole branch', async () => {
    const page = await openShop();
    await view(page, 'tree');
    await page.waitForSelector('.row.selected');
    await page.waitForSelector('.grid:focus');
    await press(page, '_');
    await until(page, 'Call tree', 'name', ['▸main']);
    await press(page, 'Home', 'ArrowRight', 'ArrowRight');
    await until(page, 'Call tree', 'name', ['▾main', '▸serve', '▸load']);
    await selected(page, '.name', 'serve');
    await press(page, 'ArrowDown', '*');
    await until(page, 'Call tree', 'name', ['▾main', '▸serve', '▾load', 'parse']);
    await press(page, 'ArrowLeft', 'ArrowLeft', 'h');
    await until(page, 'Call tree', 'name', [
        '▾main',
        '▾serve',
        '▾handle',
        'parse',
        '▸lookup',
        '▸render',
        'wait_for_work',
        '▸load',
    ]);
    await selected(page, '.name', 'lookup');
    await press(page, '*');
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 11);
    await page.waitForSelector('.row.selected[aria-level="7"]');
    await browser.done(page);
});

test('tables are sorted by a click on a title, filtered by the search, and have columns to choose', async () => {
    const page = await openShop('#view=functions&unit=ns');
    await until(page, 'functions', 'name', [
        'wait_for_work',
        'lookup',
        'parse',
        'walk',
        'load',
        'handle',
        'render',
        'serve',
        'main',
    ]);
    await page.click('[data-key=calls] button');
    await until(page, 'functions', 'calls', ['680', '240', '180', '100', '100', '11', '10', '1', '1']);
    await page.click('[data-key=calls] button');
    await until(page, 'functions', 'calls', ['1', '1', '10', '11', '100', '100', '180', '240', '680']);
    await page.click('[data-key=name] button');
    await until(page, 'functions', 'name', [
        'handle',
        'load',
        'lookup',
        'main',
        'parse',
        'render',
        'serve',
        'wait_for_work',
        'walk',
    ]);
    // Recursion counts once in inclusive times.
    assert.equal((await rowsOf(page, 'functions')).find((r) => r.name === 'walk').elapsed_inclusive, '8700');
    await page.fill('.search', 'wal');
    await until(page, 'functions', 'name', ['walk']);
    assert.equal(await page.textContent('.row mark'), 'wal');
    await page.fill('.search', 'calls>=100 module:shop');
    await until(page, 'functions', 'name', ['handle', 'lookup', 'render']);
    await page.fill('.search', 'elapsed_inclusive>15% file:main');
    await until(page, 'functions', 'name', ['lookup', 'main']);
    await page.fill('.search', '/^(w|l).*k/');
    await until(page, 'functions', 'name', ['lookup', 'wait_for_work', 'walk']);
    await page.fill('.search', '');
    await page.focus('[aria-label=functions]');
    await press(page, 'c');
    await page.click('.menu label:has-text("CPU (ns) exclusive")');
    await press(page, 'Escape');
    await page.waitForSelector('.head[data-key=cpu_exclusive]');
    assert.equal((await rowsOf(page, 'functions')).find((r) => r.name === 'wait_for_work').cpu_exclusive, '995');
    await browser.done(page);
});

test('modules, threads and processes have tables of their own', async () => {
    const page = await openShop('#view=modules&unit=ns');
    await until(page, 'modules', 'name', ['libstore.so.2', 'shop']);
    await until(page, 'modules', 'elapsed_exclusive', ['39900', '20100']);
    assert.deepEqual(column(await rowsOf(page, 'modules'), 'path'), ['/usr/lib/libstore.so.2', '/opt/shop/bin/shop']);
    await view(page, 'threads');
    await until(page, 'threads', 'process', ['shop (4711)']);
    await view(page, 'processes');
    await until(page, 'processes', 'elapsed_inclusive', ['60000']);
    await browser.done(page);
});

test('callers and callees: a click centres another function, and the browser goes back', async () => {
    const page = await openShop('#view=functions&unit=ns');
    await page.click('.row:has-text("lookup")');
    await press(page, 'Enter');
    await until(page, 'Callers', 'name', ['handle', 'render']);
    await until(page, 'Callers', 'elapsed_inclusive', ['17500', '800']);
    await until(page, 'Callees', 'name', ['walk']);
    // Recursive calls of walk have walk as their caller, not lookup.
    await until(page, 'Callees', 'calls', ['330']);
    await until(page, 'Callees', 'elapsed_inclusive', ['8700']);
    await fragmentWith(page, 'view=callers');
    await page.click('[aria-label=Callees] .row');
    await until(page, 'Callers', 'name', ['lookup', 'walk']);
    assert.equal(await page.textContent('.centre h2'), 'walk');
    await until(page, 'Callers', 'elapsed_inclusive', ['8700', '0']);
    await until(page, 'Callers', 'elapsed_exclusive', ['4200', '4500']);
    await settled(page);
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('.centre h2')?.textContent === 'lookup');
    await browser.done(page);
});

test('search in the tree opens matches, forwards and backwards', async () => {
    const page = await openShop();
    await page.waitForSelector('.grid:focus');
    await press(page, '_', '/');
    await page.keyboard.type('walk');
    await press(page, 'Enter');
    await selected(page, '.name', 'walk');
    await page.waitForSelector('.row.selected[aria-level="5"]');
    await press(page, 'Enter');
    await page.waitForFunction(() => document.querySelector('.row.selected')?.getAttribute('aria-level') === '6');
    await press(page, 'Shift+Enter');
    await page.waitForFunction(() => document.querySelector('.row.selected')?.getAttribute('aria-level') === '5');
    assert.match(await page.textContent('.below'), /4 of 14 paths match/);
    await browser.done(page);
});

test('frames are as wide as their times, and the flame graph zooms', async () => {
    const page = await openShop('#view=flame&details=0');
    const frame = async (x, fromBottom, expected) => {
        const box = await boxOf(page, '.scroller');
        await frameAt(page, box.x + x * box.width, box.y + box.height - fromBottom * 20 - 10, expected);
    };
    await page.waitForSelector('.scroller[data-frames="7"]');
    await frame(0.5, 0, 'main');
    // serve has 88 % of the width, load the next 10.3 %.
    await frame(0.875, 1, 'serve');
    await frame(0.885, 1, 'load');
    await frame(0.99, 1, '');
    await page.mouse.click(700, (await boxOf(page, '.scroller')).y + (await boxOf(page, '.scroller')).height - 30);
    await fragmentWith(page, 'zoom=');
    // serve has the whole width: 30800 of 52800 are handle's.
    await frame(0.99, 1, 'serve');
    await frame(0.58, 2, 'handle');
    await frame(0.59, 2, 'wait_for_work');
    await press(page, 'Backspace', '0');
    await page.waitForFunction(() => !location.hash.includes('zoom='));
    // By CPU time, waiting frames are narrow.
    await page.click('.measures button:has-text("CPU")');
    await frame(0.5, 2, 'handle');
    await press(page, 'ArrowUp', 'ArrowUp');
    await page.mouse.move(5, 5);
    await browser.done(page);
});

test('the inverted graph goes from functions to their callers', async () => {
    const page = await openShop('#view=inverted&details=0');
    const frame = async (x, row, expected) => {
        const box = await boxOf(page, '.scroller');
        await frameAt(page, box.x + x * box.width, box.y + row * 20 + 10, expected);
    };
    await page.waitForSelector('.scroller[data-frames="7"]');
    // wait_for_work 20000 of 60000, lookup 9600, parse 9200, walk 8700.
    await frame(0.33, 0, 'wait_for_work');
    await frame(0.33, 1, 'serve');
    await frame(0.34, 0, 'lookup');
    await frame(0.34, 1, 'handle');
    await frame(0.5, 0, 'parse');
    const box = await boxOf(page, '.scroller');
    await page.mouse.click(box.x + 0.5 * box.width, box.y + 10);
    const link = await fragmentWith(page, 'inverted=');
    await frame(0.75, 1, 'handle'); // 7000 of 9200
    await frame(0.77, 1, 'load');
    await browser.done(page);
    const again = await openShop(link);
    await again.waitForFunction(() => document.querySelector('.below button:not(:disabled)')?.textContent === 'Whole');
    await browser.done(again);
});

test('a link restores what is shown', async () => {
    const page = await openShop();
    await page.waitForSelector('.grid:focus');
    await press(page, '_', 'Home', 'ArrowRight', 'ArrowDown');
    await page.click('[data-key=calls] button');
    await page.click('.measures button:has-text("Application")');
    await page.fill('.search', 'a');
    await press(page, 'Escape');
    await page.fill('.search', 'ser');
    const link = await fragmentWith(page, 'search=ser');
    await browser.done(page);
    const again = await openShop(link);
    await until(again, 'Call tree', 'name', ['▾main', '▸serve', '▸load']);
    assert.equal(await again.inputValue('.search'), 'ser');
    assert.equal(await again.textContent('.row.selected .name'), 'serve');
    assert.equal(await again.getAttribute('.head[data-key=calls]', 'aria-sort'), 'descending');
    assert.equal(await again.textContent('.measures [aria-checked=true]'), 'Application');
    await browser.done(again);
});

test('the theme follows the system until it is switched; the choice is remembered', async () => {
    const page = await openShop('', { colorScheme: 'dark' });
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await back(), 'rgb(22, 24, 28)');
    await press(page, 't');
    assert.equal(await back(), 'rgb(255, 255, 255)');
    await page.reload();
    await page.waitForSelector('.tabs');
    assert.equal(await back(), 'rgb(255, 255, 255)');
    await press(page, 't');
    assert.equal(await back(), 'rgb(22, 24, 28)');
    await browser.done(page);
});

test('the help lists the keys; digits choose views, i the details', async () => {
    const page = await openShop();
    await press(page, '?');
    await page.waitForSelector('dialog[open] h3:has-text("Call tree")');
    await press(page, 'Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    for (const [digit, name] of [
        ['3', 'flame'],
        ['5', 'functions'],
        ['8', 'callers'],
        ['4', 'timeline'],
        ['1', 'summary'],
        ['2', 'tree'],
    ]) {
        await press(page, digit);
        await page.waitForSelector(`[data-view=${name}][aria-selected=true]`);
    }
    await page.waitForSelector('.details');
    await press(page, 'i');
    await page.waitForSelector('.details', { state: 'detached' });
    await press(page, 'u');
    await page.waitForSelector('.group:has-text("Elapsed (ms)")');
    await browser.done(page);
});

test('details show source, module, all values and the path', async () => {
    const page = await openShop('#view=tree');
    await page.click('.row:has-text("load")');
    const text = await page.textContent('.details');
    assert.match(text, /loadCallers & callees/);
    assert.match(text, /\/opt\/shop\/bin\/shop/);
    assert.deepEqual(await page.$$eval('.stack li', (all) => all.map((e) => e.textContent)), ['main', 'load']);
    assert.equal(await page.getAttribute('.details td', 'title').then((t) => t.replace(/\u2009/g, '')), '6200 ns');
    await page.click('.stack li:first-child a');
    await page.waitForFunction(() => document.querySelector('.whole-name').textContent === 'main');
    assert.match(await page.textContent('.details'), /\/src\/shop\/main\.c:10/);
    await browser.done(page);
});

test('hostile names are shown as text and run nothing', async () => {
    const file = browser.write('hostile', [hostile()]);
    for (const name of ['tree', 'functions', 'flame', 'inverted', 'callers', 'about']) {
        const page = await browser.open(file, { fragment: `#view=${name}` });
        await page.waitForTimeout(100);
        assert.equal(await page.evaluate(() => window.hacked), undefined);
        assert.equal(await page.locator('img, script:not([type]):not(:first-of-type)').count(), 0);
        await browser.done(page);
    }
    const page = await browser.open(file, { fragment: '#view=functions' });
    const names = column(await rowsOf(page, 'functions'), 'name');
    for (const name of [hostileNames[0], hostileNames[1], hostileNames[2], hostileNames[3], hostileNames[6]])
        assert.ok(names.includes(name), name);
    assert.ok(names.includes('right⟨202E⟩ot⟨202C⟩ left⟨0007⟩⟨000A⟩'));
    const long = hostileNames[4];
    assert.ok(long.length > 10000);
    const short = names.find((n) => n.startsWith('std::map'));
    assert.ok(short.length < 500 && short.includes('…') && short.endsWith('operator[]'));
    await page.click('.row:has-text("std::map")');
    assert.equal(await page.textContent('.whole-name'), long);
    assert.equal(await page.textContent('.title'), `${hostileNames[0]} 7.149 µs`);
    assert.equal(await page.textContent('.remarks li'), hostileNames[2]);
    await page.click('.row:has-text("it\'s")');
    await press(page, 'Enter');
    await until(page, 'Callers', 'name', ['main']);
    await page.fill('.search', '<script>');
    await view(page, 'functions');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label=functions] .row').length === 2);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    await browser.done(page);
});

test('values that the recording lacks are shown as unavailable', async () => {
    const page = await browser.open(
        browser.write('bare', [session(shopTree, { application: false, off_cpu: false })]),
        {
            fragment: '#view=functions',
        },
    );
    assert.match(await page.textContent('.remarks'), /application times are unavailable/);
    assert.equal(await page.isDisabled('.measures button:has-text("Application")'), true);
    assert.equal(await page.isDisabled('.measures button:has-text("CPU")'), true);
    assert.equal(await page.locator('.head[data-key=application_inclusive]').count(), 0);
    await view(page, 'timeline');
    assert.match(await page.textContent('.view'), /has no timeline/);
    await browser.done(page);
});

test('sessions of samples show numbers of samples, and no calls', async () => {
    const page = await browser.open(
        browser.write('samples', [session(shopTree, { samples: true, off_cpu: false, duration: 0 })]),
        { fragment: '#view=functions' },
    );
    await until(page, 'functions', 'elapsed_exclusive', [
        '20000',
        '9600',
        '9200',
        '8700',
        '4000',
        '3000',
        '2500',
        '2000',
        '1000',
    ]);
    assert.deepEqual(new Set(column(await rowsOf(page, 'functions'), 'calls')), new Set(['—']));
    assert.equal(await page.textContent('.group:has-text("Elapsed")'), 'Elapsed');
    assert.equal(await page.textContent('.title'), 'shop --serve');
    for (const name of ['tree', 'flame', 'inverted', 'callers', 'about']) await view(page, name);
    await browser.done(page);
});

// The new version looks up faster, parses more slowly, no longer renders, and audits.
const newTree = [
    [
        'main',
        1,
        1000,
        0,
        0,
        [
            [
                'serve',
                10,
                2000,
                0,
                0,
                [
                    [
                        'handle',
                        100,
                        3000,
                        1000,
                        0,
                        [
                            ['parse', 200, 9000, 0, 0],
                            ['lookup', 150, 4000, 500, 400, [['walk', 300, 4000, 0, 0]]],
                        ],
                    ],
                    ['wait_for_work', 11, 20000, 20000, 19000],
                ],
            ],
            ['audit', 5, 500, 0, 0],
            ['load', 1, 4000, 800, 700, [['parse', 40, 2200, 0, 0]]],
        ],
    ],
];

test('two sessions: base, new and change in tables, tree and graph', async () => {
    // The second session's clock has 2 ticks per nanosecond.
    const twice = (nodes) => nodes.map(([n, c, e, f, b, below = []]) => [n, c, 2 * e, 2 * f, 2 * b, twice(below)]);
    const page = await browser.open(
        browser.write('two', [
            shop(),
            session(twice(newTree), { perSecond: 2e9, title: 'shop --new', names: order.slice(0, 9) }),
        ]),
        {
            fragment: '#view=functions&unit=ns&by=elapsed',
        },
    );
    await until(
        page,
        'functions',
        'name',
        ['parse', 'audit', 'serve', 'load', 'wait_for_work', 'main', 'handle', 'render', 'walk', 'lookup'].sort(
            (a, b) => change[b] - change[a] || order.indexOf(a) - order.indexOf(b),
        ),
    );
    const rows = Object.fromEntries((await rowsOf(page, 'functions')).map((r) => [r.name, r]));
    assert.deepEqual(pick(rows.parse), ['9200', '11200', '+2000', '+21.7 %']);
    assert.deepEqual(pick(rows.lookup), ['9600', '4000', '−5600', '−58.3 %']);
    assert.deepEqual(pick(rows.audit), ['0', '500', '+500', 'new']);
    assert.deepEqual(pick(rows.render), ['2500', '0', '−2500', '−100.0 %']);
    await view(page, 'tree');
    await press(page, '_', '*');
    await page.waitForFunction(() => document.querySelectorAll('[aria-label="Call tree"] .row').length === 15);
    const tree = await rowsOf(page, 'Call tree');
    const main = tree.find((r) => r.name.endsWith('main'));
    assert.deepEqual(
        [main.elapsed_inclusive_base, main.elapsed_inclusive_new, main.elapsed_inclusive_change],
        ['60000', '49700', '−10300'],
    );
    assert.equal(tree.filter((r) => r.name.endsWith('walk')).length, 4);
    for (const name of ['flame', 'inverted', 'callers', 'modules', 'threads', 'about', 'timeline']) {
        await view(page, name);
        await page.waitForTimeout(60);
    }
    await browser.done(page);
});

const order = ['main', 'serve', 'handle', 'parse', 'lookup', 'walk', 'render', 'wait_for_work', 'load', 'audit']; // in the order of the first session
const change = {
    parse: 2000,
    audit: 500,
    serve: 0,
    load: 0,
    wait_for_work: 0,
    main: 0,
    handle: 0,
    render: -2500,
    walk: -4700,
    lookup: -5600,
};
const pick = (row) => [
    row.elapsed_exclusive_base,
    row.elapsed_exclusive_new,
    row.elapsed_exclusive_change,
    row.elapsed_exclusive_change_percent,
];

test('a page without a recording, or with a broken one, says so', async () => {
    const none = await browser.open(browser.write('none', []));
    assert.match(await none.textContent('.failure'), /holds no recording/);
    await browser.done(none);
    const cut = await browser.open(browser.write('cut', [{ main: shop().main.subarray(0, 900) }]));
    assert.match(await cut.textContent('.failure'), /is truncated/);
    await browser.done(cut);
    const other = await browser.open(browser.write('other', [{ main: Buffer.from('something else altogether') }]));
    assert.match(await other.textContent('.failure'), /the page cannot read this recording: its format is unknown/);
    await browser.done(other);
});
