// The view of one function, its callers above it and its callees below. A click on one of them makes it the centre.
import { nameOf, searchedName } from '../data/names';
import { useMemo, useState } from 'preact/hooks';
import type { ColumnKey } from '../data/measures';
import type { Model, Side as WhichSide, TableName, Values } from '../data/model';
import { type Neighbour, neighbours, sumOf } from '../data/neighbours';
import { percent, shortened } from '../format';
import { problemOf } from '../search';
import { matcher, measure, model, recentre, setSort, subject, chosenUnit } from '../state';
import { type GridColumn, sortOf, valueColumns } from './columns';
import { defaultSort, meets, sourceText } from './entities';
import { Grid } from './grid';
import { Name } from './name';

// Column values of callers or callees, for the columns that all tables share.
class NeighbourRows {
    private readonly made = new Map<string, Float64Array>();
    constructor(
        private readonly whole: Model,
        private readonly list: Neighbour[],
    ) {}

    column(key: ColumnKey, side: WhichSide): Values {
        const name = `${key}/${side}`;
        let values = this.made.get(name);
        if (!values) {
            values = Float64Array.from(this.list, (n) =>
                key === 'min' || key === 'max' ? this.limit(n, key, side) : sumOf(this.whole, n, key, side),
            );
            this.made.set(name, values);
        }
        return values;
    }

    private limit(n: Neighbour, key: 'min' | 'max', side: WhichSide): number {
        const column = this.whole.column('paths', key, side);
        let limit = key === 'min' ? Infinity : 0;
        for (const row of n.rows) limit = key === 'min' ? Math.min(limit, column[row]!) : Math.max(limit, column[row]!);
        return Number.isFinite(limit) ? limit : 0;
    }
}

function modelOf(whole: Model, list: Neighbour[]): Model {
    const rows = new NeighbourRows(whole, list);
    return Object.assign(Object.create(whole) as Model, {
        column: (_: TableName, key: ColumnKey, side: WhichSide) => rows.column(key, side),
        total: (key: ColumnKey, side: WhichSide) => whole.total(key, side),
        knows: (key: ColumnKey) => whole.knows(key),
    });
}

const startOfThread = '(start of thread)';

function Neighbourhood({ list, which }: { list: Neighbour[]; which: 'callers' | 'callees' }) {
    const m = model.value!;
    const columns = useMemo<GridColumn[]>(() => {
        const shownName = (row: number) =>
            list[row]!.function < 0 ? startOfThread : nameOf(m.functions[list[row]!.function]!);
        const text = (key: string, title: string, width: number, get: (row: number) => string): GridColumn => ({
            key,
            title,
            hint: title,
            width,
            numeric: false,
            shown: true,
            text: get,
            sortBy: get,
        });
        const of = (row: number) => m.functions[list[row]!.function];
        return [
            text('name', which === 'callers' ? 'Called by' : 'Calls to', 360, shownName),
            ...valueColumns(modelOf(m, list), 'functions', chosenUnit.value, false),
            text('module', 'Module', 130, (row) => shortened(m.modules[of(row)?.module ?? -1]?.name ?? '', 200)),
            text('source', 'Source', 150, (row) => sourceText(of(row)?.file ?? null, of(row)?.line ?? 0)),
        ];
    }, [m, list, chosenUnit.value, measure.value]);
    const [chosen, choose] = useState(-1);
    const initial = m.sides === 2 ? defaultSort(m, 'paths') : { key: `${measure.value}_inclusive`, descending: true };
    const sort = sortOf(which, columns, initial);
    const rows = useMemo(() => {
        const column = columns.find((c) => c.key === sort.key);
        const by = matcher.value;
        const filters = !by.empty && !problemOf(by, columns);
        const fits = meets(filters ? by.conditions : [], columns);
        const all = [...list.keys()].filter((row) => {
            const f = m.functions[list[row]!.function];
            const named = !f || by.matches(searchedName(f), m.modules[f.module]?.name ?? '', f.file ?? '');
            return !filters || (named && fits(row));
        });
        if (!column) return all;
        const sign = sort.descending ? -1 : 1;
        return all.sort((a, b) => {
            const [x, y] = [column.sortBy(a), column.sortBy(b)];
            return x < y ? -sign : x > y ? sign : a - b;
        });
    }, [list, columns, sort.key, sort.descending, matcher.value]);
    const open = (row: number) => {
        if (list[row]!.function >= 0) recentre(list[row]!.function);
    };
    return (
        <Grid
            name={which}
            label={which === 'callers' ? 'Callers' : 'Callees'}
            columns={columns}
            rows={rows}
            sort={sort}
            onSort={(next) => setSort(which, next)}
            selected={chosen}
            onSelect={choose}
            onClick={open}
            onOpen={open}
            cell={(c, row) =>
                c.key === 'name' ? (
                    <a class="go">
                        <Name text={c.text(row)} />
                    </a>
                ) : undefined
            }
            empty={which === 'callers' ? 'No recorded function calls it.' : 'It calls no recorded function.'}
        />
    );
}

export function largestFunction(m: Model): number {
    const values = m.column('functions', `${measure.value}_exclusive`, (m.sides - 1) as WhichSide);
    let largest = -1;
    for (let i = 0; i < values.length; i++) if (largest < 0 || values[i]! > values[largest]!) largest = i;
    return largest;
}

export function Callers() {
    const m = model.value!;
    const centre = subject.value >= 0 ? subject.value : largestFunction(m);
    const both = useMemo(() => (centre < 0 ? null : neighbours(m, centre)), [m, centre]);
    const columns = useMemo(() => valueColumns(m, 'functions', chosenUnit.value), [m, chosenUnit.value, measure.value]);
    if (!both) return <p class="wait">The recording has no functions.</p>;
    const f = m.functions[centre]!;
    const shown = columns.filter((c) => c.shown && !/_(ex|in)clusive_percent$/.test(c.key));
    return (
        <div class="fill callers">
            <Neighbourhood list={both.callers} which="callers" />
            <section class="centre" aria-label="Function">
                <h2>
                    <Name text={nameOf(f)} whole={f.name} />
                </h2>
                <span class="where">
                    {shortened(m.modules[f.module]?.name ?? '', 200)} {sourceText(f.file, f.line)}
                </span>
                <dl>
                    {shown.map((c) => (
                        <div key={c.key} title={c.hint}>
                            <dt>{c.group ? `${c.group} ${c.title}` : c.title}</dt>
                            <dd class={c.tone?.(centre)}>
                                {c.text(centre)}
                                {m.sides === 1 && c.share ? <small> {percent(c.share(centre))}</small> : null}
                            </dd>
                        </div>
                    ))}
                </dl>
            </section>
            <Neighbourhood list={both.callees} which="callees" />
        </div>
    );
}
