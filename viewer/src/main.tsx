import { effect } from '@preact/signals';
import { render } from 'preact';
import { SingleModel } from './data/model';
import { findSource } from './data/source';
import { Branches } from './data/open';
import { dark, expanded, failure, model, source } from './state';
import { App } from './views/app';
import { openHotPath } from './views/tree';

effect(() => {
    const root = document.documentElement;
    if (dark.value === null) delete root.dataset.theme;
    else root.dataset.theme = dark.value ? 'dark' : 'light';
});

async function start() {
    const from = findSource();
    if (from.sessions === 0) throw new Error('This page holds no recording: dwell view writes one into it.');
    source.value = from;
    const made = new SingleModel(await from.session(0));
    expanded.value = new Branches(made.paths.count);
    model.value = made;
    openHotPath(-1);
}

function begin() {
    render(<App />, document.getElementById('app')!);
    start().catch((error: Error) => (failure.value = error.message));
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
else begin();
