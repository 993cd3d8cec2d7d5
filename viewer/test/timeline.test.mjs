// The timeline: what it draws where, at which level of detail, and how it is moved.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, boxOf, colourAt, fragmentWith, view } from './support/browser.mjs';
import { Recordings, sample, testProgram } from './support/dwell.mjs';
import { threaded, timed } from './support/sessions.mjs';

let browser;
let file;
before(async () => {
    browser = await Browser.start();
    file = browser.write('timed', [timed()]);
});
after(() => browser.stop());

// A page of 1024 pixels for 65536 ticks: 64 ticks a pixel, more than the coarser level's resolution.
const open = (fragment = '') =>
    browser.open(file, { fragment: `#view=timeline&details=0${fragment}`, viewport: { width: 1024, height: 700 } });
const top = 26 + 18; // the ruler, the marks
const rowOf = {
    activity: top + 20,
    main: top + 37,
    serve: top + 54,
    walks: top + 71,
    absent: top + 88,
    workerTitle: top + 37 + 3 * 17 + 9 + 8,
    workerActivity: top + 37 + 3 * 17 + 9 + 8 + 20,
    worker: top + 37 + 3 * 17 + 9 + 8 + 37,
};

// The text of the tooltip at a point of the timeline.
async function at(page, x, y) {
    const box = await boxOf(page, '.timeline');
    // The browser reports no move to the point where the mouse already is.
    await page.mouse.move(box.x + x, box.y + y + 1);
    await page.mouse.move(box.x + x, box.y + y);
    await page.waitForTimeout(30);
    const tip = page.locator('.tip');
    return (await tip.count()) ? (await tip.allInnerTexts()).join().replace(/\s+/g, ' ').trim() : '';
}
const range = async (page) => (await page.textContent('.range')).replace(/\s+/g, ' ');

// Retries, as the page is drawn one frame after the key.
const shows = async (page, x, y, pattern) => {
    for (let tries = 0; tries < 1200 && !pattern.test(await at(page, x, y)); tries++) await page.waitForTimeout(50);
    assert.match(await at(page, x, y), pattern);
};

async function hasColour(page, x, y, expected) {
    let colour;
    for (let tries = 0; tries < 1200 && (colour = await colourAt(page, x, y)) !== expected; tries++)
        await page.waitForTimeout(50);
    assert.equal(colour, expected);
}

test('calls lie where they were, short ones are merged until zoomed', async () => {
    const page = await open();
    await page.waitForFunction(() => document.querySelector('.range'));
    await page.waitForTimeout(200);
    await shows(page, 512, rowOf.main + 8, /^main shop main\.c:10 65\.54 µs from 0 ns/);
    await shows(page, 20, rowOf.serve + 8, /^serve .*60\.00 µs from 1\.000 µs/);
    assert.equal(await at(page, 5, rowOf.serve + 8), '');
    await shows(page, 60, rowOf.walks + 8, /^40 short calls 4\.000 µs from 2\.000 µs; zoom in/);
    await shows(page, 100, rowOf.worker + 8, /^wait_for_work/);
    // 2048 ticks from 2048: two pixels a tick.
    await page.evaluate(() => history.replaceState(null, '', location.hash));
    await browser.done(page);
    const near = await open('&time=2048-4096');
    await near.waitForTimeout(300);
    // Each call of 90 ticks, every 100: the second one begins at 2100, the 27th pixel.
    await shows(near, 40, rowOf.walks + 8, /^walk .*90 ns from 2\.100 µs/);
    await shows(near, 80, rowOf.walks + 8, /^lookup .*90 ns from 2\.200 µs/);
    // A clipped call still shows its whole length.
    await shows(near, 500, rowOf.main + 8, /65\.54 µs from 0 ns/);
    await browser.done(near);
    const left = await open('&time=34768-36816');
    await left.waitForTimeout(300);
    await shows(left, 500, rowOf.walks + 8, /^40 short calls/);
    assert.match(await left.textContent('.below'), /some detail is left out/);
    await browser.done(left);
});

test('off-CPU times are grey and below the calls', async () => {
    const page = await open();
    await page.waitForTimeout(200);
    await shows(page, 800, rowOf.absent + 3, /^preempted 3\.000 µs from 50\.00 µs/);
    await shows(page, 300, rowOf.worker + 17 + 3, /^blocked 28\.00 µs from 3\.000 µs/);
    await page.mouse.move(0, 0);
    await hasColour(page, 300, rowOf.worker + 17 + 3, '201,205,210');
    // A call that mostly waits is grey, too; one that works is not.
    await hasColour(page, 400, rowOf.worker + 14, '201,205,210');
    const [red, , blue] = (await colourAt(page, 700, rowOf.worker + 14)).split(',').map(Number);
    assert.ok(red > blue + 40, `${red} ${blue}`);
    await browser.done(page);
});

test('wheel, drag and keys move the timeline; a link restores it', async () => {
    const page = await open();
    assert.match(await range(page), /^0 ns … 65\.54 µs/);
    const box = await boxOf(page, '.timeline');
    await page.mouse.move(box.x + 512, box.y + 300);
    await page.mouse.wheel(0, -500);
    await page.waitForFunction(() => !document.querySelector('.range').textContent.startsWith('0 ns'));
    const middle = () =>
        page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('time').split('-').map(Number));
    await page.waitForFunction(() => location.hash.includes('time='));
    const [a, b] = await middle();
    assert.ok(Math.abs((a + b) / 2 - 32768) < 64, `${a} ${b}`);
    await page.mouse.down();
    await page.mouse.move(box.x + 412, box.y + 300, { steps: 4 });
    await page.mouse.up();
    const moved = Math.round(a + ((b - a) * 100) / 1024);
    await page.waitForFunction(
        (from) => Math.abs(Number(new URLSearchParams(location.hash.slice(1)).get('time').split('-')[0]) - from) < 40,
        moved,
    );
    const [c, d] = await middle();
    assert.ok(Math.abs(d - c - (b - a)) <= 1, `${a}-${b} to ${c}-${d}`);
    await page.keyboard.press('0');
    await page.waitForFunction(() => document.querySelector('.range').textContent.startsWith('0 ns'));
    await page.keyboard.press('w');
    await page.waitForFunction(() => /time=16384-49152/.test(location.hash));
    await page.keyboard.press('d');
    await page.waitForFunction(() => /time=22938-55706/.test(location.hash));
    await page.keyboard.press('s');
    await page.keyboard.press('Home');
    await page.waitForFunction(() => !location.hash.includes('time='));
    // A window that got wider still zooms to the pointer.
    await page.setViewportSize({ width: 1912, height: 800 });
    await page.waitForFunction((old) => document.querySelector('.timeline').clientWidth > old, box.width);
    const wide = await boxOf(page, '.timeline');
    await page.mouse.move(wide.x + wide.width * 0.75, wide.y + 300);
    await page.mouse.wheel(0, -500);
    await page.waitForFunction(() => location.hash.includes('time='));
    const [e, f] = await middle();
    assert.ok(Math.abs(e + (f - e) * 0.75 - 49152) < 64, `${e} ${f}`);
    await browser.done(page);
    const again = await open('&time=16384-32768');
    assert.match(await range(again), /^16\.38 µs … 32\.77 µs \(16\.38 µs\)/);
    await browser.done(again);
});

test('a double click zooms to a call; keys go to marks; lanes fold', async () => {
    const page = await open();
    const box = await boxOf(page, '.timeline');
    await shows(page, 700, rowOf.worker + 8, /^parse/); // it is drawn
    await page.mouse.dblclick(box.x + 700, box.y + rowOf.worker + 8); // parse: 40000 to 50000
    await page.waitForFunction(() => /time=39500-50500/.test(location.hash));
    await page.keyboard.press('0');
    await shows(page, 128, 26 + 9, /^loaded mark at 8\.192 µs on shop/);
    await shows(page, 512, 26 + 9, /^<b>half way<\/b> mark at 32\.77 µs on worker/);
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await page.keyboard.press('[');
    await page.waitForFunction(() => /time=0-16384/.test(location.hash));
    await page.keyboard.press(']');
    await page.waitForFunction(() => /time=24576-40960/.test(location.hash));
    await page.keyboard.press('0');
    await page.mouse.click(box.x + 60, box.y + top + 8);
    await shows(page, 60, rowOf.walks + 8, /^$/);
    // Only its first row remains.
    await shows(page, 60, rowOf.main + 8, /^main/);
    await browser.done(page);
});

test('matches of the search are highlighted', async () => {
    const page = await open('&search=parse');
    await page.waitForTimeout(200);
    await hasColour(page, 700, rowOf.worker + 14, '255,226,122');
    await hasColour(page, 400, rowOf.worker + 14, '227,229,233');
    await browser.done(page);
});

test('typing in the search and choosing a measure redraw the timeline', async () => {
    const page = await open('&by=elapsed');
    const becomes = async (y, x, test, what) => {
        let colour;
        for (let i = 0; i < 1200 && !test((colour = await colourAt(page, x, y))); i++) await page.waitForTimeout(50);
        assert.ok(test(colour), `${what}: ${colour}`);
    };
    const waits = [rowOf.worker + 14, 400];
    const parse = [rowOf.worker + 14, 700];
    await becomes(...waits, (c) => c === '201,205,210', 'a call that waits is grey');
    await page.fill('.search', 'parse');
    await becomes(...parse, (c) => c === '255,226,122', 'a match is highlighted');
    await becomes(...waits, (c) => c === '227,229,233', 'others are dimmed');
    await page.fill('.search', '');
    await becomes(...waits, (c) => c === '201,205,210', 'the search is over');
    // By blocked time, the waiting call is the hottest.
    await page.click('.measures button:has-text("Blocked")');
    await becomes(...waits, (c) => c === '168,67,11', 'the hottest by blocked time');
    await browser.done(page);
});

const orange = '240,160,75';
const grey = '201,205,210';
// A lane is 14 pixels high, and its shares stand on each other: CPU, preempted, blocked.
test('a strip above the calls shows the shares of CPU, blocked and preempted time', async () => {
    const page = await open();
    await shows(page, 100, rowOf.activity + 5, /^100\.0 % on the CPU 0\.0 % blocked 0\.0 % preempted$/);
    await shows(page, 800, rowOf.activity + 5, /^0\.0 % on the CPU 0\.0 % blocked 100\.0 % preempted$/);
    await shows(page, 300, rowOf.workerActivity + 5, /^0\.0 % on the CPU 100\.0 % blocked/);
    await shows(page, 5, rowOf.workerActivity + 5, /^0\.0 % on the CPU 0\.0 % blocked/);
    await page.mouse.move(0, 0);
    await hasColour(page, 100, rowOf.activity + 8, orange);
    await hasColour(page, 700, rowOf.workerActivity + 8, orange);
    await hasColour(page, 300, rowOf.workerActivity + 8, grey);
    await browser.done(page);
    // At two pixels a tick, bins of 64 ticks are too wide: the calls and off-CPU times are used instead.
    const near = await open('&time=2490-3514');
    await shows(near, 505, rowOf.workerActivity + 5, /^100\.0 % on the CPU 0\.0 % blocked/);
    await shows(near, 515, rowOf.workerActivity + 5, /^0\.0 % on the CPU 100\.0 % blocked/);
    await browser.done(near);
});

// The titles of the lanes, from the top.
const lanesOf = (page) =>
    page.evaluate(() => JSON.parse(document.querySelector('.timeline').dataset.lanes).map(([title]) => title));

test('threads are hidden, collapsed and ordered by the menu and by keys; processes are groups', async () => {
    const grouped = browser.write('threaded', [threaded()]);
    const fragment = '#view=timeline&details=0';
    const page = await browser.open(grouped, { fragment });
    const becomes = async (expected) => {
        let got;
        for (let i = 0; i < 1200; i++) {
            got = await lanesOf(page);
            if (JSON.stringify(got) === JSON.stringify(expected)) return;
            await page.waitForTimeout(30);
        }
        assert.deepEqual(got, expected);
    };
    const recorded = [
        'shop (10): 2 threads',
        'shop (10)',
        'pool (11)',
        'audit (20): 2 threads',
        'audit (20)',
        'io (21)',
    ];
    await becomes(recorded);
    await page.focus('.timeline');
    await page.keyboard.press('l');
    await page.waitForSelector('.thread-menu select:focus');
    const order = (key) => page.selectOption('.thread-menu select', key);
    await order('name');
    await becomes(['audit (20): 2 threads', 'audit (20)', 'io (21)', 'shop (10): 2 threads', 'pool (11)', 'shop (10)']);
    await order('cpu');
    await becomes(['audit (20): 2 threads', 'io (21)', 'audit (20)', 'shop (10): 2 threads', 'shop (10)', 'pool (11)']);
    await order('start');
    await becomes(['shop (10): 2 threads', 'pool (11)', 'shop (10)', 'audit (20): 2 threads', 'audit (20)', 'io (21)']);
    await order('recorded');
    await page.click('[aria-label="Show pool (11)"]');
    await becomes(['shop (10): 1 thread', 'shop (10)', ...recorded.slice(3)]);
    await page.click('[aria-label="Show shop (10)"] >> nth=0'); // the process
    await becomes(recorded.slice(3));
    await page.click('.thread-menu button:has-text("Show all")');
    await page.click('[aria-label="Collapse audit (20)"] >> nth=0');
    await becomes(recorded.slice(0, 4));
    await page.focus('[aria-label="Move audit (20) up"] >> nth=0');
    await page.keyboard.press('Enter');
    await becomes([recorded[3], ...recorded.slice(0, 3)]);
    await page.focus('[aria-label="Move pool (11) up"]');
    await page.keyboard.press('Space');
    await becomes([recorded[3], recorded[0], 'pool (11)', 'shop (10)']);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.thread-menu', { state: 'detached' });
    const link = await fragmentWith(page, 'lanes=own');
    await browser.done(page);
    const again = await browser.open(grouped, { fragment: link });
    await again.waitForSelector('.timeline');
    assert.deepEqual(await lanesOf(again), [recorded[3], recorded[0], 'pool (11)', 'shop (10)']);
    // A click on the title of a process opens it again.
    const box = await boxOf(again, '.timeline');
    await again.mouse.click(box.x + 60, box.y + 26 + 8);
    await again.waitForFunction(() => JSON.parse(document.querySelector('.timeline').dataset.lanes).length === 6);
    await browser.done(again);
});

// Activities that overlap are on lines below each other; the calls follow below them.
test('activities are bars in rows of their own with their name, time and thread', async () => {
    const activities = {
        time: [6400, 12800, 25600],
        duration: [19200, 25600, 6400],
        waited: [0, 12800, 0],
        thread: [0, 1, 0],
        name: [0, 1, 0],
    };
    const page = await browser.open(
        browser.write('bars', [timed({ activityNames: ['Test=WriteFile', '<i>requests</i>'], activities })]),
        { fragment: '#view=timeline&details=0', viewport: { width: 1024, height: 700 } },
    );
    await page.waitForFunction(() => document.querySelector('.range'));
    await shows(page, 150, top + 8, /^Test=WriteFile activity of 19\.20 µs from 6\.400 µs on /);
    await shows(page, 150, top + 16 + 8, /^$/);
    await shows(
        page,
        300,
        top + 16 + 8,
        /^<i>requests<\/i> activity of 25\.60 µs from 12\.80 µs, 12\.80 µs of it in a queue on /,
    );
    await shows(page, 450, top + 8, /^Test=WriteFile activity of 6\.400 µs from 25\.60 µs/);
    await shows(page, 512, rowOf.main + 32 + 8, /^main shop main\.c:10 65\.54 µs from 0 ns/);
    await browser.done(page);
});

test('a click on an activity chooses its range of time', async () => {
    const recordings = new Recordings();
    try {
        const session = recordings.record('burn.data', [testProgram('events/events'), 'burn'], '--event', 'shop');
        const [pair] = recordings.json('events', '--pairs', session).rows;
        const page = await browser.open(recordings.view('burn', session), { fragment: '#view=timeline&details=0' });
        const box = await boxOf(page, '.timeline');
        await shows(page, box.width * 0.6, top + 8, / activity of /); // it is drawn
        await page.mouse.click(box.x + box.width * 0.6, box.y + top + 8);
        await page.waitForFunction(() => /part=\d+-\d+/.test(location.hash));
        const [, from, to] = /part=(\d+)-(\d+)/.exec(await page.evaluate(() => location.hash));
        assert.ok(Number(to) > Number(from) && pair.duration_ns > 9e7, `${from}-${to}`);
        await browser.done(page);
    } finally {
        recordings.remove();
    }
});

test('a real recording shows its threads and their calls', async () => {
    const recordings = new Recordings();
    try {
        const session = recordings.record('threads.data', [sample('threads'), '3', '100000']);
        const page = await browser.open(recordings.view('threads', session), { fragment: '#view=timeline&details=0' });
        const report = recordings.json('report', '--by', 'thread', '--limit', '0', session).rows;
        assert.equal(report.length, 4);
        // Looks down the middle of all lanes for each thread's title and the program's calls.
        const box = await boxOf(page, '.timeline');
        const seen = new Set();
        const look = async () => {
            for (let y = 40; y < 420; y += 17)
                for (let x = 60; x < box.width; x += 75) {
                    await page.mouse.move(box.x + x, box.y + y);
                    const [tip] = await page.locator('.tip-name').allTextContents();
                    if (tip) seen.add(tip.replace(/ ×.*/, ''));
                }
        };
        const names = ['main', 'worker'];
        for (let i = 0; i < 20 && !names.every((name) => seen.has(name)); i++) await look();
        for (const name of names) assert.ok(seen.has(name), [...seen].join(', '));
        await view(page, 'threads');
        await browser.done(page);
    } finally {
        recordings.remove();
    }
});
