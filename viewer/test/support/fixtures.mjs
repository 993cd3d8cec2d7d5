// The browser and the recordings of a file of tests: they begin before its tests, and end after them.
import { after, before } from 'node:test';
import { Browser } from './browser.mjs';
import { Recordings } from './dwell.mjs';

export let browser;
export let recordings;

before(async () => {
    recordings = new Recordings();
    browser = await Browser.start();
});
after(async () => {
    await browser?.stop();
    recordings.remove();
});
