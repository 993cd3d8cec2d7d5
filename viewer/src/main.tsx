// Starts the page: its theme, its keys, its link and the loading of the sessions.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { followKeys } from './keys';
import { followState } from './link';
import { load } from './load';
import { dark, failure } from './state';
import { App } from './views/app';

// Light or dark is the reader's choice and not in the link. Pages opened from disk may have no storage.
const remembered = 'dwell:dark';
try {
    const before = localStorage.getItem(remembered);
    if (before !== null) dark.value = before === '1';
} catch {
    // The page uses the system's theme.
}

effect(() => {
    const root = document.documentElement;
    if (dark.value === null) delete root.dataset.theme;
    else root.dataset.theme = dark.value ? 'dark' : 'light';
    try {
        if (dark.value !== null) localStorage.setItem(remembered, dark.value ? '1' : '0');
    } catch {
        // The choice lasts until the page is closed.
    }
});

function startPage() {
    render(<App />, document.getElementById('app')!);
    followKeys();
    followState();
    load().catch((error: Error) => (failure.value = error.message));
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', startPage);
else startPage();
