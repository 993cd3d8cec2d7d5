import { effect } from '@preact/signals';
import { render } from 'preact';
import { followKeys } from './keys';
import { followState } from './link';
import { load } from './load';
import { dark, failure } from './state';
import { App } from './views/app';

// The reader's choice, not the link's. Pages from disk may have no storage.
const remembered = 'dwell:dark';
try {
    const before = localStorage.getItem(remembered);
    if (before !== null) dark.value = before === '1';
} catch {
    // Then it is as the system has it.
}

effect(() => {
    const root = document.documentElement;
    if (dark.value === null) delete root.dataset.theme;
    else root.dataset.theme = dark.value ? 'dark' : 'light';
    try {
        if (dark.value !== null) localStorage.setItem(remembered, dark.value ? '1' : '0');
    } catch {
        // It lasts as long as the page.
    }
});

function begin() {
    render(<App />, document.getElementById('app')!);
    followKeys();
    followState();
    load().catch((error: Error) => (failure.value = error.message));
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
else begin();
