// The panel about the selected function or path: its full name, its source and module, all its values.
import { copy, largestPath, showInFlame, showInTree } from '../keys';
import { nameOf } from '../data/names';
import { type ColumnKey, extents, measuresOf } from '../data/measures';
import type { Model, Side, TableName } from '../data/model';
import { stackOf } from '../data/paths';
import { isKnownAt, signOf } from '../data/timing';
import { count, percent, visible } from '../format';
import { exactText, timingTip } from './columns';
import { details, model, path, recentre, reveal, subject, view } from '../state';
import { Name } from './name';
import { TransformButtons } from './transforms';
import { type Line, Values, oneValue } from './values';
import { ValuesButton, hasValues } from './recorded';
import { WhyButton, hasWhy } from './why';

// The values of a row of one session, a line for each measure. Tooltips show them exact to the nanosecond.
function Alone({ m, table, row }: { m: Model; table: TableName; row: number }) {
    const value = (key: ColumnKey) => m.column(table, key, 0)[row]!;
    const known = (key: ColumnKey) => isKnownAt(m, table, key, row, 0);
    const share = (key: ColumnKey) => percent(value(key) / (m.total(key, 0) || 1));
    const cells = (key: ColumnKey) => (
        <>
            <td title={[exactText(m, key, value(key), 0), timingTip(m, table, key, row, 0)].filter(Boolean).join('; ')}>
                {known(key) ? signOf(m, table, key, row, 0) + oneValue(m, key, value(key), 0) : '—'}
            </td>
            <td class="share">{known(key) ? share(key) : ''}</td>
        </>
    );
    const limits = !m.facts[0]!.samples && value('min') <= value('max') && value('max') > 0;
    return (
        <table class="values alone">
            <thead>
                <tr>
                    <th />
                    <th colSpan={2}>inclusive</th>
                    <th colSpan={2}>exclusive</th>
                </tr>
            </thead>
            <tbody>
                {measuresOf(m)
                    .filter((x) => m.knows(`${x.key}_inclusive`))
                    .map((x) => (
                        <tr key={x.key}>
                            <th title={x.meanings[0]}>{x.title}</th>
                            {cells(`${x.key}_inclusive`)}
                            {cells(`${x.key}_exclusive`)}
                        </tr>
                    ))}
                {m.knows('calls') && (
                    <tr>
                        <th>Calls</th>
                        <td title={timingTip(m, table, 'calls', row, 0)}>
                            {known('calls') ? count(value('calls')) : '—'}
                        </td>
                    </tr>
                )}
                {limits && (
                    <tr>
                        <th title="the shortest and the longest completed call, as in dwell report">One call</th>
                        <td colSpan={4}>
                            {oneValue(m, 'min', value('min'), 0)} … {oneValue(m, 'max', value('max'), 0)}
                        </td>
                    </tr>
                )}
            </tbody>
        </table>
    );
}

function AllValues({ m, table, row }: { m: Model; table: TableName; row: number }) {
    if (m.sides === 1) return <Alone m={m} table={table} row={row} />;
    const line = (title: string, key: ColumnKey): Line => ({
        title,
        key,
        get: (side: Side) => m.column(table, key, side)[row]!,
    });
    const lines = [line('Calls', 'calls')];
    for (const x of measuresOf(m))
        lines.push(line(`${x.title} incl.`, `${x.key}_inclusive`), line(`${x.title} excl.`, `${x.key}_exclusive`));
    return <Values m={m} lines={lines.filter((one) => one.get(0) !== 0 || one.get(1) !== 0)} />;
}

// Whether the path has all that the function has.
function isWholeFunction(m: Model, row: number, fn: number): boolean {
    const keys = ['calls', ...measuresOf(m).flatMap((x) => extents.map((extent) => `${x.key}_${extent}`))];
    return ([0, 1] as Side[])
        .slice(0, m.sides)
        .every((side) =>
            keys.every((key) => m.column('paths', key, side)[row] === m.column('functions', key, side)[fn]),
        );
}

const maxSteps = 40;

export function Details() {
    const m = model.value!;
    const row = path.value;
    const fn = row >= 0 ? m.paths.function[row]! : subject.value;
    const f = m.functions[fn]!;
    const module = m.modules[f.module];
    const stack = row >= 0 ? stackOf(m.paths, row) : [];
    const source = f.file ? `${f.file}${f.line ? `:${f.line}` : ''}` : '';
    return (
        <aside class={`details ${m.sides === 2 ? 'two' : ''}`} aria-label="Details">
            <button
                class="close"
                title="Close the details (i)"
                aria-label="Close the details"
                onClick={() => (details.value = false)}
            >
                ×
            </button>
            <h2 class="whole-name">
                <bdi>{visible(f.name)}</bdi>
            </h2>
            <p class="actions">
                {view.value !== 'callers' && <button onClick={() => recentre(fn)}>Callers &amp; callees</button>}
                {view.value !== 'tree' && (
                    <button onClick={showInTree} disabled={row < 0 && largestPath(fn) < 0}>
                        Call tree
                    </button>
                )}
                {view.value !== 'flame' && <button onClick={showInFlame}>Flame graph</button>}
                {hasWhy(m) && <WhyButton />}
                {hasValues(m) && <ValuesButton />}
                <button onClick={() => void copy(f.name, 'Name')}>Copy name</button>
                {view.value !== 'timeline' && <TransformButtons />}
            </p>
            <dl class="places">
                {source && (
                    <>
                        <dt>Source</dt>
                        <dd>
                            <span class="path">{visible(source)}</span>{' '}
                            <button class="small" onClick={() => void copy(source, 'Source')}>
                                copy
                            </button>
                        </dd>
                    </>
                )}
                <dt>Module</dt>
                <dd class="path">{visible(module?.path || module?.name || '[unknown]')}</dd>
                {module?.build_id && (
                    <>
                        <dt>Build-id</dt>
                        <dd class="path">{module.build_id}</dd>
                    </>
                )}
                <dt>Address</dt>
                <dd class="path">{f.address ?? 'unknown'}</dd>
            </dl>
            {row >= 0 && !isWholeFunction(m, row, fn) && (
                <>
                    <h3>This path</h3>
                    <AllValues m={m} table="paths" row={row} />
                </>
            )}
            <h3>
                {row >= 0 && isWholeFunction(m, row, fn)
                    ? 'This path, all of the function'
                    : 'All paths of the function'}
            </h3>
            <AllValues m={m} table="functions" row={fn} />
            {row >= 0 && (
                <>
                    <h3>Call path</h3>
                    <ol class="stack">
                        {stack.length > maxSteps && <li class="where">{stack.length - maxSteps} more above</li>}
                        {stack.slice(-maxSteps).map((at) => (
                            <li key={at}>
                                <a class="go" onClick={() => reveal(at)}>
                                    <Name text={nameOf(m.functions[m.paths.function[at]!]!)} />
                                </a>
                            </li>
                        ))}
                    </ol>
                </>
            )}
        </aside>
    );
}
