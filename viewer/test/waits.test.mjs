// Waits: arrows and the critical path on the timeline, the views Waits and Critical path, and pages without waits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boxOf, colourAt, column, fragmentWith, rowsOf, until, view } from './support/browser.mjs';
import { container } from './support/container.mjs';
import { testProgram } from './support/dwell.mjs';
import { browser, recordings } from './support/fixtures.mjs';
import { shop, timed } from './support/sessions.mjs';

const texts = [
    'wait_for_work',
    'libstore.so.2',
    'main;serve;wait_for_work',
    'worker',
    'mutex',
    '0x10',
    'mutex 0x10',
    'holder',
    'serve',
    'main;serve',
    'shop',
    'none',
    'sleep',
    '1 us',
    'nanosleep 1 us',
];
const number = (text) => texts.indexOf(text) + 1;

// The worker waits 28,000 ticks for a mutex that serve holds in the first thread until 30,000, and then it sleeps.
const rows = () => ({
    function: [number('wait_for_work'), number('wait_for_work')],
    module: [2, 2],
    path: [3, 3],
    thread: [number('worker'), number('worker')],
    'object.kind': [number('mutex'), number('sleep')],
    'object.name': [number('0x10'), number('1 us')],
    waits_for: [number('mutex 0x10'), number('nanosleep 1 us')],
    cause: [number('holder'), number('none')],
    cause_function: [number('serve'), 0],
    cause_path: [number('main;serve'), 0],
    cause_thread: [number('shop'), 0],
    waits: [1, 3],
    total: [28000, 1000],
    max: [28000, 600],
    share_percent: [50000, 1500],
});

const tables = () => ({
    by_path: rows(),
    by_lock: rows(),
    by_function: rows(),
    by_thread: rows(),
    by_waker: rows(),
    waits: {
        thread: [1, 1],
        begin: [3000, 45000],
        end: [31000, 46000],
        waker: [0, -1],
        woken: [30000, 0],
        cause: [1, 0],
        by_path: [0, 1],
        by_lock: [0, 1],
    },
    edges: {
        thread: [1, 1],
        by_lock: [0, 1],
        cause_thread: [0, -1],
        cause: [1, 0],
        waits: [1, 3],
        total: [28000, 1000],
        max: [28000, 600],
    },
    critical: {
        function: [5, -1, 7],
        place: [0, 1, 0],
        work: [40000, 0, 0],
        runnable: [0, 5000, 0],
        outside: [0, 0, 20536],
    },
    segments: { thread: [0, 1], begin: [0, 30000], end: [30000, 65536], function: [1, 7], place: [0, 0] },
    slack: { thread: [0, 1], on_path: [30000, 35536], slack: [0, 28000] },
    ranking: {
        function: [5, 1],
        time: [40000, 10000],
        less_10: [61536, 65000],
        less_50: [45536, 64000],
        less_100: [25536, 60000],
        least_50: [45000, 62000],
    },
});

const header = () => ({
    causes: true,
    counted: true,
    waits: 2,
    texts,
    left_out: { by_path: 0, by_lock: 7, edges: 0 },
    critical: {
        thread: 1,
        from: 0,
        to: 65536,
        replayed: 65536,
        unknown: 3000,
        ranged: false,
        segments: 2,
        unknown_origins: 0,
    },
});

// A session with one more block, which its header names.
function withWaits({ main, blocks }, facts, of) {
    const length = main.readUInt32LE(8);
    const old = JSON.parse(main.subarray(12, 12 + length).toString());
    const columns = main.subarray(Math.ceil((12 + length) / 8) * 8);
    const text = Buffer.from(JSON.stringify({ ...old, waits: { block: blocks.length } }));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(text.length);
    const padding = Buffer.alloc((8 - ((12 + text.length) % 8)) % 8);
    return {
        main: Buffer.concat([Buffer.from('DWELLV01'), size, text, padding, columns]),
        blocks: [...blocks, container(facts, of)],
    };
}

const open = (fragment, facts = header(), of = tables(), options = {}) =>
    browser.open(browser.write('waits', [withWaits(timed(), facts, of)]), {
        fragment: `#${fragment}`,
        viewport: { width: 1024, height: 700 },
        ...options,
    });

// Retries, as the canvas is drawn one frame after a change.
async function becomes(page, x, y, expected, is = true) {
    let colour;
    for (let tries = 0; tries < 600; tries++) {
        colour = await colourAt(page, x, y);
        if ((colour === expected) === is) return;
        await page.waitForTimeout(50);
    }
    assert.fail(`${colour} at ${x}, ${y}, ${is ? 'not ' : ''}${expected}`);
}

const cause = async (page) => (await page.textContent('.wait-cause')).replace(/\s+/g, ' ').trim();
const until_cause = (page, text) =>
    page.waitForFunction((t) => document.querySelector('.wait-cause')?.textContent.includes(t), text);

const lane = 26 + 18; // below the ruler and the marks
const first = lane + 37; // the calls of the first thread
const second = lane + 37 + 3 * 17 + 9 + 8 + 37; // and of the second one
const colours = {
    light: { arrow: '31,95,191', critical: '163,21,138' },
    dark: { arrow: '127,178,255', critical: '242,127,217' },
};

for (const scheme of ['light', 'dark'])
    test(`timeline, ${scheme}: arrows and the critical path, and keys that switch them`, async () => {
        const { arrow, critical } = colours[scheme];
        const page = await open('view=timeline&details=0', header(), tables(), { colorScheme: scheme });
        await becomes(page, 484, second - 5, arrow, false); // only on demand
        await page.keyboard.press('v');
        await fragmentWith(page, 'arrows=1');
        await becomes(page, 468, first + 3 * 17 - 1, arrow); // the act, at 30,000 of 64 ticks a pixel
        await becomes(page, 484, second - 5, arrow); // the head, at 31,000
        await becomes(page, 200, first - 2, critical);
        await becomes(page, 600, second - 2, critical);
        await becomes(page, 600, first - 2, critical, false);
        await page.keyboard.press('v');
        await becomes(page, 484, second - 5, arrow, false);
        await page.keyboard.press('b');
        await becomes(page, 200, first - 2, critical, false);
        await fragmentWith(page, 'band=0');
        await page.click('.critical-toggle');
        await becomes(page, 200, first - 2, critical);
        await browser.done(page);
    });

test('timeline: a click or a key shows the cause of a wait, and moves to the act', async () => {
    const page = await open('view=timeline&details=0&arrows=1');
    await becomes(page, 484, second - 5, colours.light.arrow);
    await page.keyboard.press('v');
    const box = await boxOf(page, '.timeline');
    await page.mouse.click(box.x + 200, box.y + second + 17 + 4);
    await until_cause(page, 'mutex 0x10');
    assert.match(
        await cause(page),
        /^worker waited 28\.00 µs for mutex 0x10 in wait_for_work ?held by shop in serve; ended by shop at 30\.00 µs/,
    );
    await page.keyboard.press('n');
    await until_cause(page, 'nanosleep');
    assert.match(
        await cause(page),
        /^worker waited 1\.000 µs for nanosleep 1 us in wait_for_work ?The cause is unknown/,
    );
    assert.ok(await page.isDisabled('.wait-cause button >> text=Go to the act'));
    await page.keyboard.press('N');
    await until_cause(page, 'mutex 0x10');
    await page.keyboard.press('+');
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.querySelector('.range').textContent.startsWith('13.62'));
    await page.click('.wait-cause button >> text=Show the wait');
    await fragmentWith(page, 'time=200-33800');
    await page.click('.wait-cause [aria-label="Close the wait"]');
    await page.waitForSelector('.wait-cause', { state: 'detached' });
    await browser.done(page);
});

test('timeline: without arrows, the selected wait has one', async () => {
    const page = await open('view=timeline&details=0');
    await page.waitForSelector('.critical-toggle');
    await page.keyboard.press('n');
    await until_cause(page, 'nanosleep');
    await page.keyboard.press('N');
    await until_cause(page, 'mutex 0x10');
    await becomes(page, 484, second - 5, '163,21,138', false);
    await page.waitForFunction(
        ([x, y]) => {
            const canvas = document.querySelector('.timeline canvas');
            const [r, g, b] = canvas.getContext('2d').getImageData(x, y, 1, 1).data;
            return r !== g || g !== b;
        },
        [484, second - 5],
    );
    await browser.done(page);
});

test('timeline: the critical path is a line without a tint, and that of a single thread is not drawn', async () => {
    const { critical } = colours.light;
    const two = await open('view=timeline&details=0');
    await becomes(two, 700, second - 2, critical); // 44,800 ticks, within parse on the second thread
    const withPath = await colourAt(two, 900, second + 10); // no call there
    await two.keyboard.press('b');
    await becomes(two, 700, second - 2, critical, false);
    assert.equal(await colourAt(two, 900, second + 10), withPath);
    await browser.done(two);
    const alone = timed({
        timeline: {
            start: 0,
            end: 65536,
            lanes: [{ thread: 1, depth: 1, start: 2000 }],
            bin: 64,
            levels: [],
            complete: true,
        },
    });
    const one = await browser.open(browser.write('alone', [withWaits(alone, header(), tables())]), {
        fragment: '#view=timeline&details=0',
        viewport: { width: 1024, height: 700 },
    });
    await one.waitForSelector('.timeline canvas');
    await one.keyboard.press('n'); // the waits are there
    await one.waitForSelector('.wait-cause');
    await becomes(one, 700, first - 2, critical, false);
    assert.equal(await one.locator('.critical-toggle').count(), 0);
    await browser.done(one);
});

test('timeline: where the critical path changes the thread at each pixel, it does not hide the calls', async () => {
    const ends = [20000, ...Array.from({ length: 158 }, (_, i) => 20064 + 64 * i), 50000, 65536];
    const segments = {
        thread: ends.map((_, i) => (i < 159 ? i % 2 : 160 - i)),
        begin: [0, ...ends.slice(0, -1)],
        end: ends,
        function: ends.map(() => 1),
        place: ends.map(() => 0),
    };
    const page = await open('view=timeline&details=0', header(), { ...tables(), segments });
    await becomes(page, 200, first - 2, colours.light.critical);
    const between = async () => [await colourAt(page, 400, second - 20), await colourAt(page, 781, second - 20)];
    const [dense, change] = await between();
    await page.keyboard.press('b');
    await becomes(page, 200, first - 2, colours.light.critical, false);
    const [denseWithout, changeWithout] = await between();
    assert.equal(dense, denseWithout);
    assert.notEqual(change, changeWithout); // at 50,000 ticks, between segments of 310 and 242 pixels
    await browser.done(page);
});

test('Waits: the tables of dwell waits, sorted and searched', async () => {
    const page = await open('view=waits&unit=ns', header(), tables(), { viewport: { width: 1440, height: 700 } });
    const label = 'waits by path';
    const [one, other] = await rowsOf(page, label);
    assert.deepEqual(
        ['function', 'waits', 'total', 'max', 'share_percent', 'waits_for', 'cause', 'cause_function'].map(
            (k) => one[k],
        ),
        ['wait_for_work', '1', '28000', '28000', '50.00 %', 'mutex 0x10', 'holder', 'serve'],
    );
    assert.deepEqual([other.total, other.cause, other.cause_thread], ['1000', 'none', '']);
    await page.click(`[aria-label="${label}"] [data-key=waits] button`);
    await until(page, label, 'waits', ['3', '1']);
    await fragmentWith(page, 'sort=waits-path:waits-');
    await page.fill('.search', 'NANOSLEEP');
    await until(page, label, 'waits', ['3']);
    await page.fill('.search', 'total>10us');
    await until(page, label, 'waits', ['1']);
    await page.fill('.search', 'calls>1');
    await page.waitForSelector('.search-problem');
    await page.fill('.search', '');
    await until(page, label, 'waits', ['3', '1']);
    await page.keyboard.press('Escape');
    for (const key of ['Home', 'ArrowDown']) await page.keyboard.press(key);
    await page.waitForFunction(() => document.querySelector('.row-about')?.textContent.includes('main → serve'));
    assert.equal(
        (await page.textContent('.row-about')).replace(/\s+/g, ' ').trim(),
        'Waited inmain → serve → wait_for_workHeld inmain → serveCallers & callees',
    );
    await page.click('.choices >> text=by lock');
    assert.deepEqual(column(await rowsOf(page, 'waits by lock'), 'waits_for'), ['mutex 0x10', 'nanosleep 1 us']);
    assert.match(await page.textContent('.view .below'), /7 rows with less time are left out/);
    await fragmentWith(page, 'waits=lock');
    await page.click('[aria-label="waits by lock"] .row');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-view=callers][aria-selected=true]');
    await browser.done(page);
});

test('Waits: a graph has the largest 30 threads and objects, none on top of another', async () => {
    const many = tables();
    const list = Array.from({ length: 40 }, (_, i) => i);
    for (const key of Object.keys(many.by_lock)) many.by_lock[key] = list.map(() => rows()[key][0]);
    many.edges = {
        thread: list.map((i) => i % 2),
        by_lock: list,
        cause_thread: list.map((i) => 1 - (i % 2)),
        cause: list.map(() => 1),
        waits: list.map(() => 2),
        total: list.map((i) => 9000 - i),
        max: list.map(() => 10),
    };
    const page = await open('view=waits&waits=graph', header(), many);
    await page.waitForSelector('.wait-graph .node');
    const boxes = await page.$$eval('.wait-graph .node rect', (all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ x, y, width, height }) => [x, y, width, height]),
    );
    const labels = await page.$$eval('.wait-graph .edge text', (all) =>
        all.map((one) => one.getBBox()).map(({ x, y, width, height }) => [x, y, width, height]),
    );
    assert.ok(labels.length >= 15, `${labels.length} labels`);
    labels.forEach(([x, y, width, height], i) =>
        labels
            .slice(0, i)
            .forEach(([a, b, w, h]) =>
                assert.ok(
                    x + width <= a + 1 || a + w <= x + 1 || y + height <= b + 1 || b + h <= y + 1,
                    `label ${i} is on another one`,
                ),
            ),
    );
    assert.equal(boxes.length, 30);
    for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1))
            assert.ok(a[0] + a[2] <= b[0] || b[0] + b[2] <= a[0] || a[1] + a[3] <= b[1] || b[1] + b[3] <= a[1]);
    assert.match(await page.textContent('.wait-graph .where'), /at most 30 threads and objects\. 14 shorter sums/);
    await browser.done(page);
});

test('Critical path: functions, segments that lead to the timeline, threads, and what if', async () => {
    const page = await open('view=critical&unit=ns');
    const functions = await rowsOf(page, 'critical path: functions');
    assert.deepEqual(
        functions.map((r) => [r.name, r.total, r.path_percent, r.work, r.runnable, r.outside]),
        [
            ['walk', '40000', '61.04 %', '40000', '0', '0'],
            ['wait_for_work', '20536', '31.34 %', '0', '0', '20536'],
            ['(outside functions)', '5000', '7.63 %', '0', '5000', '0'],
        ],
    );
    assert.match(await page.textContent('.waits-view .above'), /65\.54 µs, from 0 ns to 65\.54 µs, ends on worker/);
    await page.click('.choices >> text=threads');
    assert.deepEqual(
        (await rowsOf(page, 'critical path: threads')).map((r) => [r.thread, r.on_path, r.slack]),
        [
            ['worker (4712)', '35536', '28000'],
            ['shop (4711)', '30000', '0'],
        ],
    );
    await page.click('.choices >> text=what if');
    assert.deepEqual(
        (await rowsOf(page, 'critical path: ranking')).map((r) => [r.name, r.time, r.gain_10, r.gain_50, r.gain_100]),
        [
            ['walk', '40000', '−4000', '−20000', '−40000'],
            ['serve', '10000', '−536', '−1536', '−5536'],
        ],
    );
    assert.match(await page.textContent('.view .below'), /nothing changed is as long as the recorded run/);
    await page.click('.choices >> text=segments');
    assert.deepEqual(
        (await rowsOf(page, 'critical path: segments')).map((r) => [r.thread, r.from, r.to, r.function]),
        [
            ['shop (4711)', '0', '30000', 'serve'],
            ['worker (4712)', '30000', '65536', 'wait_for_work'],
        ],
    );
    await page.click('[aria-label="critical path: segments"] .row');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-view=timeline][aria-selected=true]');
    await fragmentWith(page, 'time=-6000-36000').catch(() => fragmentWith(page, 'time='));
    await browser.done(page);
});

test('pages without waits, without causes and without a critical path say why', async () => {
    const none = await browser.open(browser.write('none', [shop()]), { fragment: '#view=waits' });
    assert.match(await none.textContent('.view'), /This page holds no waits/);
    await browser.done(none);
    const page = await open('view=waits', { ...header(), causes: false, critical: null });
    await page.waitForSelector('.choices');
    assert.match(await page.textContent('.waits-view .above'), /causes of waits were not recorded: record again/);
    await view(page, 'critical');
    await page.waitForFunction(() =>
        /no critical path across threads/.test(document.querySelector('.view').textContent),
    );
    await view(page, 'timeline');
    assert.equal(await page.locator('button >> text=Arrows').count(), 0);
    await browser.done(page);
    const slice = await open('view=critical', { ...header(), critical: null });
    await slice.waitForFunction(() => /needs the whole recording/.test(document.querySelector('.view').textContent));
    await browser.done(slice);
});

// The waits of the second session: the worker waits longer, and only for work. Rows of functions are the session's own.
function laterTables() {
    const later = tables();
    for (const table of ['by_path', 'by_lock', 'by_function', 'by_thread', 'by_waker'])
        later[table] = Object.fromEntries(
            Object.entries(rows()).map(([key, values]) => [
                key,
                [{ total: 42000, max: 41000, waits: 2, share_percent: 70000 }[key] ?? values[0]],
            ]),
        );
    later.edges = {
        thread: [1],
        by_lock: [0],
        cause_thread: [0],
        cause: [1],
        waits: [2],
        total: [42000],
        max: [41000],
    };
    later.ranking.less_100 = [15536, 60000];
    return later;
}

const chooseSide = (page, side) => page.selectOption('.view select', side);

test('a page of two sessions has the waits and the critical path of either', async () => {
    const sessions = [withWaits(timed(), header(), tables()), withWaits(timed(), header(), laterTables())];
    const page = await browser.open(browser.write('waits', sessions), {
        fragment: '#view=waits&unit=ns',
        viewport: { width: 1400, height: 700 },
    });
    const values = async () =>
        (await rowsOf(page, 'waits by path')).map((r) => [r.function, r.waits, r.total, r.max, r.share_percent]);
    const first = [
        ['wait_for_work', '1', '28000', '28000', '50.00 %'],
        ['wait_for_work', '3', '1000', '600', '1.50 %'],
    ];
    const second = [['wait_for_work', '2', '42000', '41000', '70.00 %']];
    await until(page, 'waits by path', 'total', ['28000', '1000']);
    assert.deepEqual(await values(), first);
    await chooseSide(page, '1');
    await until(page, 'waits by path', 'total', ['42000']);
    assert.deepEqual(await values(), second);
    await chooseSide(page, '0');
    await page.click('.choices >> text=graph');
    const nodes = () => page.$$eval('.wait-graph .node', (all) => all.map((one) => one.ariaLabel).sort());
    await page.waitForSelector('.wait-graph .node');
    assert.deepEqual(await nodes(), ['mutex 0x10: 28.00 µs', 'shop (4711): 28.00 µs', 'worker (4712): 28.00 µs']);
    await chooseSide(page, '1');
    await page.waitForFunction(() => /42\.00/.test(document.querySelector('.wait-graph .node')?.ariaLabel));
    assert.deepEqual(await nodes(), ['mutex 0x10: 42.00 µs', 'shop (4711): 42.00 µs', 'worker (4712): 42.00 µs']);
    await view(page, 'critical');
    await page.click('.choices >> text=what if');
    await until(page, 'critical path: ranking', 'gain_100', ['−50000', '−5536']);
    await chooseSide(page, '0');
    await until(page, 'critical path: ranking', 'gain_100', ['−40000', '−5536']);
    await browser.done(page);
});

test('what if has a limit if more than 5 % of the path are waits without a known cause', async () => {
    const usual = await open('view=critical&unit=ns');
    await usual.click('.choices >> text=what if');
    assert.equal((await rowsOf(usual, 'critical path: ranking'))[0].most_50, undefined);
    assert.doesNotMatch(await usual.textContent('.view .below'), /range/);
    await browser.done(usual);
    const facts = header();
    const page = await open('view=critical&unit=ns', {
        ...facts,
        critical: { ...facts.critical, unknown: 10000, ranged: true },
    });
    await page.click('.choices >> text=what if');
    assert.deepEqual(
        (await rowsOf(page, 'critical path: ranking')).map((r) => [r.name, r.gain_50, r.most_50]),
        [
            ['walk', '−20000', '−20536'],
            ['serve', '−1536', '−3536'],
        ],
    );
    assert.match(
        await page.textContent('.view .below'),
        /15\.3 % of the path are waits without a known cause, which may depend on any function: a prediction is a range/,
    );
    await browser.done(page);
});

test('a page of two sessions shows the waits of one if the other has none', async () => {
    for (const name of ['waits', 'critical']) {
        const sessions = [shop(), withWaits(timed(), header(), tables())];
        const page = await browser.open(browser.write('waits', sessions), { fragment: `#view=${name}&unit=ns` });
        await page.waitForFunction(() => /This page holds no waits/.test(document.querySelector('.view').textContent));
        await chooseSide(page, '1');
        const label = name === 'waits' ? 'waits by path' : 'critical path: functions';
        await until(page, label, 'total', name === 'waits' ? ['28000', '1000'] : ['40000', '20536', '5000']);
        await browser.done(page);
    }
});

test('two real recordings have the rows of dwell waits of each', async () => {
    const [a, b] = ['mutex', 'barrier'].map((kind) => recordings.record(`${kind}.data`, [testProgram('causes'), kind]));
    const page = await browser.open(recordings.view('both', a, b), {
        fragment: '#view=waits&unit=ns',
        viewport: { width: 1800, height: 800 },
    });
    for (const [side, session] of [b, a].entries()) {
        await chooseSide(page, String(1 - side));
        const said = recordings.json('waits', session).rows;
        await until(
            page,
            'waits by path',
            'total',
            said.map((row) => String(row.total_ns)),
        );
        const mine = await rowsOf(page, 'waits by path');
        assert.deepEqual(
            mine.map((r) => [r.function, r.cause, r.waits, r.max]),
            said.map((r) => [r.function, r.cause, String(r.waits), String(r.max_ns)]),
        );
    }
    await browser.done(page);
});

test('a real recording has the rows of dwell waits, critical and whatif', async () => {
    const session = recordings.record('causes.data', [testProgram('causes'), 'mutex']);
    const file = recordings.view('causes', session);
    const page = await browser.open(file, { fragment: '#view=waits&unit=ns', viewport: { width: 1800, height: 800 } });
    const said = recordings.json('waits', session).rows;
    const mine = await rowsOf(page, 'waits by path');
    assert.deepEqual(
        mine.map((r) => [r.function, r.cause, r.cause_function, r.cause_thread, r.waits, r.total, r.max]),
        said.map((r) => [
            r.function,
            r.cause,
            r.cause_function ?? '',
            r.cause_thread ?? '',
            String(r.waits),
            String(r.total_ns),
            String(r.max_ns),
        ]),
    );
    await view(page, 'critical');
    const path = recordings.json('critical', session);
    const functions = await rowsOf(page, 'critical path: functions');
    assert.deepEqual(column(functions, 'total').map(Number), column(path.rows, 'total_ns'));
    const sum = column(path.rows, 'total_ns').reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - path.length_ns) <= path.rows.length); // each is rounded to nanoseconds
    await page.click('.choices >> text=what if');
    const ranked = await rowsOf(page, 'critical path: ranking');
    const { rank } = recordings.json('whatif', '--rank', session);
    assert.deepEqual(column(ranked, 'name').toSorted(), [...new Set(rank.map((r) => r.function))].toSorted());
    await browser.done(page);
});
