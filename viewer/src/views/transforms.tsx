// The transforms of the call tree: how they are chosen, and the chips that show and remove them.
import { nameOf as shownName } from '../data/names';
import { type Transform, type TransformKind, sameTransform, transformOf } from '../data/transform';
import { locate } from '../data/identity';
import { shortened } from '../format';
import { model, notify, subject, transforms } from '../state';

const words: Record<TransformKind, string> = {
    focus: 'Only calls of',
    hide: 'Hidden:',
    recursion: 'Recursion collapsed',
};

const hints: Record<TransformKind, string> = {
    focus: 'only this function and what it calls are shown; it is the root',
    hide: 'the function’s own time belongs to its caller, and its callees are the caller’s',
    recursion: 'a function that calls itself, directly or not, is one row with its outermost call',
};

export function addTransform(kind: TransformKind): void {
    const m = model.value!;
    if (kind !== 'recursion' && subject.value < 0) {
        notify('Select a function first');
        return;
    }
    const one = transformOf(m, kind, subject.value);
    if (!transforms.value.some((other) => sameTransform(one, other))) transforms.value = [...transforms.value, one];
}

function nameOf(one: Transform): string {
    const row = one.function ? locate(model.value!, 'functions', one.function) : -1;
    return row < 0 ? '' : shortened(shownName(model.value!.functions[row]!), 80);
}

export function TransformBar() {
    if (transforms.value.length === 0) return null;
    return (
        <div class="chips" role="group" aria-label="Transforms of the call tree">
            {transforms.value.map((one) => {
                const text = `${words[one.kind]} ${nameOf(one)}`.trim();
                return (
                    <button
                        key={one.kind + one.function}
                        class="chip"
                        title={`${hints[one.kind]}; click to remove`}
                        aria-label={`Remove: ${text}`}
                        onClick={() => (transforms.value = transforms.value.filter((x) => x !== one))}
                    >
                        {text} <span aria-hidden="true">×</span>
                    </button>
                );
            })}
            {transforms.value.length > 1 && <button onClick={() => (transforms.value = [])}>Remove all</button>}
            <span class="where">percentages are of the whole recording</span>
        </div>
    );
}

export function TransformButtons() {
    return (
        <>
            <button title={`Focus: ${hints.focus} (F)`} onClick={() => addTransform('focus')}>
                Focus
            </button>
            <button title={`Hide: ${hints.hide} (H)`} onClick={() => addTransform('hide')}>
                Hide
            </button>
            <button title={`Collapse recursion: ${hints.recursion} (R)`} onClick={() => addTransform('recursion')}>
                Collapse recursion
            </button>
        </>
    );
}
